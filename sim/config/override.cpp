#include "sim/config/override.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace syncline::config {

namespace {

constexpr std::ptrdiff_t deepest_path = 64;

Entry* find_entry(Node& node, std::string_view key) {
    const auto found =
        std::find_if(node.entries.begin(), node.entries.end(), [&](const Entry& entry) { return entry.key == key; });
    return found == node.entries.end() ? nullptr : &*found;
}

Node mapping_at(const Mark& mark) {
    Node node;
    node.kind = Node::Kind::mapping;
    node.mark = mark;
    return node;
}

bool is_mapping(const Node& node) {
    return node.kind == Node::Kind::mapping;
}

/// Rebuilds a mapping from entries whose keys are paths.
class Splitter {
public:
    std::vector<Diagnostic> errors;

    /// Sets `path`, a part of the key at `entry.mark`, in `target` to the value of `entry`.
    void set(Node& target, std::string_view path, Entry entry) {
        const auto dot = path.find('.');
        const std::string part{path.substr(0, dot)};
        if (part.empty()) return fail(entry.mark, "this path has an empty part", "keys are joined by single dots");
        if (dot == std::string_view::npos) {
            entry.key = part;
            return join(target, std::move(entry));
        }
        Entry* inner = find_entry(target, part);
        if (!inner) {
            target.entries.push_back({part, entry.mark, mapping_at(entry.mark)});
            inner = &target.entries.back();
        }
        if (!is_mapping(inner->value)) return fail_twice(entry, *inner);
        entry.mark.column += static_cast<int>(part.size()) + 1;
        set(inner->value, path.substr(dot + 1), std::move(entry));
    }

private:
    void join(Node& target, Entry entry) {
        Entry* there = find_entry(target, entry.key);
        if (!there)
            target.entries.push_back(std::move(entry));
        else if (is_mapping(there->value) && is_mapping(entry.value))
            for (Entry& inner : entry.value.entries) join(there->value, std::move(inner));
        else
            fail_twice(entry, *there);
    }

    void fail_twice(const Entry& again, const Entry& first) {
        fail(again.mark, fmt::format("'{}' is set twice", first.key),
             fmt::format("the other time in line {}", first.mark.line));
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
        Entry* entry = find_entry(base, change.key);
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
        // What only takes keys away from a mapping that is not there does not make one.
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
        for (const char* key : {"algorithm", "overlay", "segment", "peers", "contributors", "receivers"}) drop(key);
    if (gives("algorithm") && !gives("selection")) drop("selection");
    if (gives("sweep") && !gives("bytes")) drop("bytes");
    if (gives("bytes") && !gives("sweep")) drop("sweep");
    if (gives("batch") && !gives("batch_per_rank")) drop("batch_per_rank");
    if (gives("batch_per_rank") && !gives("batch")) drop("batch");
    const bool rows = gives("model") || gives("data");
    if (gives("grid") && !rows)
        for (const char* key : {"model", "data"}) drop(key);
    if (rows && !gives("grid")) drop("grid");
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
    for (Entry& entry : node.entries) {
        const std::string path = entry.key;
        if (std::count(path.begin(), path.end(), '.') >= deepest_path) {
            splitter.errors.push_back({locate(entry.mark), "this path has too many parts", ""});
            continue;
        }
        splitter.set(result, path, std::move(entry));
    }
    node = std::move(result);
    if (!splitter.errors.empty()) throw ConfigError(splitter.errors);
}

Node parse_assignment(Library& library, const std::string& text) {
    const std::string name = "--set";
    const auto equals = text.find('=');
    const auto refuse = [&](const char* message) {
        throw ConfigError({{{name, 1, 1, text}, message, "write for example training.ranks=8"}});
    };
    if (equals == std::string::npos) refuse("there is no '=' here");
    if (equals == 0) refuse("there is no key before '='");
    Node value = library.parse(name, text, "", equals + 1);
    const Mark start{value.mark.source, 1, 1};
    Node document = mapping_at(start);
    document.entries.push_back({text.substr(0, equals), start, std::move(value)});
    split_paths(document);
    return document;
}

}  // namespace syncline::config
