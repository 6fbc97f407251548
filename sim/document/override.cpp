#include "sim/document/override.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/document/former_names.hpp"
#include "sim/document/key_path.hpp"

namespace syncline::config {

namespace {

constexpr std::size_t deepest_path = 64;

bool is_mapping(const Node& node) {
    return node.kind == Node::Kind::mapping;
}

/// Builds a mapping from entries whose keys are paths.
class Splitter {
public:
    std::vector<Diagnostic> errors;

    /// Sets the path given by the key of `entry` to its value in `target`.
    void set(Node& target, Entry entry) {
        const KeyPath path = parse_path(entry.key);
        const auto place = [&, start = entry.mark](std::size_t at) {
            return Mark{start.source, start.line, start.column + static_cast<int>(at)};
        };
        if (!path.error.empty()) return fail(place(path.error_at), path.error, path.hint);
        if (path.parts.size() > deepest_path) return fail(entry.mark, "this path has too many parts", "");
        Node* within = &target;
        for (std::size_t i = 0; i + 1 < path.parts.size(); ++i) {
            const auto& [key, at] = path.parts[i];
            entry.mark = place(at);
            Entry* inner = within->entry(key);
            if (!inner) {
                within->entries.push_back({key, entry.mark, mapping_at(entry.mark)});
                inner = &within->entries.back();
            }
            if (!is_mapping(inner->value)) return fail_twice(entry, *inner);
            within = &inner->value;
        }
        entry.mark = place(path.parts.back().at);
        entry.key = path.parts.back().key;
        join(*within, std::move(entry));
    }

private:
    void join(Node& target, Entry entry) {
        Entry* there = target.entry(entry.key);
        if (!there)
            target.entries.push_back(std::move(entry));
        else if (is_mapping(there->value) && is_mapping(entry.value))
            for (Entry& inner : entry.value.entries) join(there->value, std::move(inner));
        else
            fail_twice(entry, *there);
    }

    void fail_twice(const Entry& again, const Entry& first) {
        fail(again.mark, fmt::format("'{}' is set twice", first.key),
             fmt::format("the other one is in line {}", first.mark.line));
    }

    void fail(const Mark& mark, const std::string& message, const std::string& hint) {
        errors.push_back({locate(mark), message, hint});
    }
};

}  // namespace

void merge(Node& base, const Node& changes) {
    if (!is_mapping(changes)) {
        base = changes;
        return;
    }
    if (!is_mapping(base)) base = mapping_at(changes.mark);
    for (const Entry& change : changes.entries) {
        Entry* entry = base.entry(change.key);
        if (change.value.kind == Node::Kind::null) {
            if (entry) base.entries.erase(base.entries.begin() + (entry - base.entries.data()));
            continue;
        }
        if (entry) {
            merge(entry->value, change.value);
            if (!is_mapping(change.value)) entry->mark = change.mark;
            continue;
        }
        Node value;
        merge(value, change.value);
        // Changes that only remove keys from a missing mapping do not create it.
        const bool nothing = is_mapping(value) && value.entries.empty() && !change.value.entries.empty();
        if (!nothing) base.entries.push_back({change.key, change.mark, std::move(value)});
    }
}

void drop_alternatives(Node& base, const Node& changes) {
    const auto gives = [&](const char* key) {
        const Node* value = changes.find(key);
        return value && value->kind != Node::Kind::null;
    };
    const auto drop = [&](const char* key) {
        std::erase_if(base.entries, [&](const Entry& entry) { return entry.key == key; });
    };
    if (gives("selection") && !gives("algorithm"))
        for (const char* key : {"algorithm", "overlay", "segment", "peers", "round", "contributors", "receivers"})
            drop(key);
    if (gives("algorithm") && !gives("selection")) drop("selection");
    if (gives("sweep") && !gives("bytes")) drop("bytes");
    if (gives("bytes") && !gives("sweep")) drop("sweep");
    if (gives("batch") && !gives("batch_per_rank")) drop("batch_per_rank");
    if (gives("batch_per_rank") && !gives("batch")) drop("batch");
    const auto open = [](const Node& node) {
        const Node* rows = node.find("model");
        return rows && rows->scalar == "auto";
    };
    if (open(changes) && !gives("data")) drop("data");
    if (gives("data") && !gives("model") && open(base)) drop("model");
    if (const Node* framework = changes.find("framework"); framework && framework->find("base")) drop("framework");
    if (gives("scenario")) {
        // Keys that change a job's scenario change the next one, too.
        if (base.find("scenario") == nullptr)
            for (const char* key : {"workload", "training", "trace"}) drop(key);
        drop("variant");
    }
    if (gives("submissions"))
        for (const char* key : {"arrival", "arrivals", "count", "interval", "poisson", "uniform", "duration"})
            drop(key);
    // A job's iterations follow from its duration.
    const auto given_iterations = [](const Node& job) {
        const Node* const training = job.find("training");
        const Node* const iterations = training ? training->find("iterations") : nullptr;
        return iterations && iterations->kind != Node::Kind::null;
    };
    if (given_iterations(changes))
        drop("duration");
    else if (Node* const training = base.find("training"); training && (gives("duration") || gives("submissions")))
        std::erase_if(training->entries, [](const Entry& entry) { return entry.key == "iterations"; });
    if (gives("arrivals"))
        for (const char* key : {"arrival", "count", "interval", "poisson", "uniform"}) drop(key);
    if (gives("count")) drop("arrivals");
    if (const Node* inner = changes.find("jobs"), *old = base.find("jobs"); inner && old)
        for (const Entry& job : inner->entries)
            if (Node* one = base.find("jobs")->find(job.key)) drop_alternatives(*one, job.value);
    for (const char* part : {"training", "collective", "parallelism"}) {
        const Node* inner = changes.find(part);
        Node* old = base.find(part);
        if (inner && old) drop_alternatives(*old, *inner);
    }
}

void split_paths(Node& node) {
    Splitter splitter;
    Node result = mapping_at(node.mark);
    if (!is_mapping(node)) return;
    for (Entry& entry : node.entries) splitter.set(result, std::move(entry));
    node = std::move(result);
    if (!splitter.errors.empty()) throw ConfigError(splitter.errors);
    refuse_former_names(node);  // also those to which a path leads
}

Node parse_assignment(Library& library, const std::string& text) {
    const std::string name = "--set";
    const auto equals = end_of_path(text);
    const auto refuse = [&](const char* message) {
        throw ConfigError({{{name, 1, 1, text}, message, "write for example training.ranks=8"}});
    };
    if (equals == std::string::npos) refuse("missing '='");
    if (equals == 0) refuse("missing key before '='");
    Node value = library.parse(name, text, "", equals + 1);
    const Mark start{value.mark.source, 1, 1};
    Node document = mapping_at(start);
    document.entries.push_back({text.substr(0, equals), start, std::move(value)});
    split_paths(document);
    return document;
}

}  // namespace syncline::config
