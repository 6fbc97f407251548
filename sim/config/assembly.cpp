#include "sim/config/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "sim/config/file_kinds.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/document/override.hpp"
#include "sim/import/foreign.hpp"
#include "sim/topology/formats.hpp"

namespace syncline::config {

namespace {

/// Returns a topology that holds the graph in a file.
Node graph_in(const Node& file) {
    return mapping_at(file.mark, {{"topology", file.mark, scalar_at(file.mark, shape_name(Shape::graph))},
                                  {"file", file.mark, file}});
}

/// Returns a platform that is a file in SimGrid's format.
Node simgrid_platform(const Node& file) {
    return mapping_at(file.mark, {{"simgrid_xml", file.mark, file}});
}

void add(std::vector<Diagnostic>& errors, const Diagnostic& error) {
    const bool known = std::any_of(errors.begin(), errors.end(), [&](const Diagnostic& other) {
        return same_place(other.where, error.where) && other.message == error.message;
    });
    if (!known) errors.push_back(error);
}

}  // namespace

Node Assembly::load_argument(const std::string& path) {
    if (is_graph_file(path)) return graph_in(library.argument(path));
    if (is_foreign_name(path)) return foreign_platform(library, library.argument(path));
    Node document = library.load_argument(path);
    adopt_platform(document);
    return document;
}

void Assembly::attempt(const std::function<void()>& step) {
    try {
        step();
    } catch (const ConfigError& error) {
        for (const Diagnostic& diagnostic : error.diagnostics()) add(errors_, diagnostic);
    }
}

void Assembly::report(const Mark& mark, const std::string& message, const std::string& hint) {
    // Nobody reads more, and each holds its source line, which may be long.
    constexpr std::size_t most_errors = 200;
    add(errors_, {locate(mark), message, hint});
    if (errors_.size() >= most_errors) finish();
}

void Assembly::expand(Node* node, const Kinds& kinds) {
    if (node == nullptr || node->kind != Node::Kind::scalar) return;
    const Mark reference = node->mark;
    attempt([&] {
        unread_.push_back(locate(reference));
        if (kinds == Kinds{"workload"})
            *node = workload_in(*node);
        else if (kinds == Kinds{"platform"})
            *node = platform_in(*node);
        else if (kinds == Kinds{"topology"})
            *node = topology_in(*node);
        else
            library.expand(*node, kinds);
        unread_.pop_back();
    });
}

Node Assembly::workload_in(const Node& word) {
    Node document = is_foreign_name(word.scalar) ? foreign_workload(library, word) : word;
    library.expand(document, {"workload"});
    adopt_workload(document);
    return document;
}

Node Assembly::platform_in(const Node& word) {
    if (is_foreign_name(word.scalar)) return foreign_platform(library, word);
    Node document = word;
    library.expand(document, {"platform"});
    adopt_platform(document);
    return document;
}

Node Assembly::topology_in(const Node& word) {
    Node document = word;
    bool foreign = is_foreign_name(word.scalar);
    if (foreign) {
        document = foreign_platform(library, word);
    } else {
        library.expand(document, {"topology"}, shape_names());
        foreign = adopt_platform(document);
    }
    if (!foreign) return document;
    if (document.find("per_node"))
        warn({locate(word.mark), "the links inside nodes are left out", "name the file as the platform"});
    return take(document, "fabric");
}

void Assembly::expand_topology(Node* node) {
    if (node == nullptr || node->kind != Node::Kind::scalar) return;
    if (is_shape(node->scalar))
        *node = mapping_at(node->mark, {{"topology", node->mark, *node}});
    else if (is_graph_file(node->scalar))
        *node = graph_in(*node);
    else
        expand(node, {"topology"});
}

void Assembly::expand_selection(Node* node) {
    expand(node, {"selection"});
    Node* rows = node ? node->find("rows") : nullptr;
    if (rows == nullptr) return;
    for (Node& row : rows->items) {
        expand_topology(row.find("overlay"));
        if (Node* candidates = row.find("least_time"))
            for (Node& candidate : candidates->items) expand_topology(candidate.find("overlay"));
    }
}

void Assembly::expand_framework(Node* node) {
    expand(node, {"framework"});
    if (node == nullptr) return;
    for (const char* key : {"name", "description"}) take(*node, key);
    Node* base = node->find("base");
    if (base == nullptr || base->kind != Node::Kind::scalar) return;  // reading says that it is not a name
    expand_framework(base);
    if (base->kind != Node::Kind::mapping) return;
    Node whole = take(*node, "base");
    merge(whole, *node);
    *node = std::move(whole);
}

void Assembly::expand_platform(Node& platform) {
    expand(platform.find("device"), {"device"});
    if (Node* others = platform.find("other_nodes"))
        for (Node& other : others->items) expand(other.find("device"), {"device"});
    Node* transport = platform.find("transport");
    expand(transport, {"transport"});
    if (transport) expand_selection(transport->find("selection"));
    expand_topology(platform.find("fabric"));
}

void Assembly::expand_references(Node& document) {
    if (Node* platform = document.find("platform")) {
        if (platform->kind == Node::Kind::scalar && platform->scalar.ends_with(".xml"))
            *platform = simgrid_platform(*platform);
        expand(platform, {"platform"});
        expand_platform(*platform);
    }
    if (Node* jobs = document.find("jobs"))
        for (Entry& job : jobs->entries) expand_references(job.value);
    expand(document.find("workload"), {"workload"});
    if (Node* training = document.find("training")) expand_framework(training->find("framework"));
    for (Node* part : {document.find("training"), document.find("collective"), &document}) {
        if (part == nullptr) continue;
        expand_topology(part->find("overlay"));
        expand_selection(part->find("selection"));
    }
}

void Assembly::read(const Node& node, const std::string& what, const std::function<void(Fields&)>& body) {
    std::vector<Diagnostic> found;
    config::read(node, what, body, found, &other_files_);
    for (const Diagnostic& error : found) {
        // A file that could not be read leaves its name where the reader expects a mapping; this error is already
        // reported.
        const bool unread = std::any_of(unread_.begin(), unread_.end(),
                                        [&](const Location& place) { return same_place(place, error.where); });
        if (!unread) add(errors_, error);
    }
}

void Assembly::finish() {
    other_files_.clear();
    unread_.clear();
    if (errors_.empty()) return;
    std::vector<Diagnostic> sorted = std::exchange(errors_, {});
    // Errors are sorted as a person reads the files, not as in the field tables.
    std::vector<std::string> files;
    const auto position = [&](const Diagnostic& error) {
        const auto file = std::find(files.begin(), files.end(), error.where.file);
        return std::tuple(file - files.begin(), error.where.line, error.where.column);
    };
    for (const Diagnostic& error : sorted) {
        if (std::find(files.begin(), files.end(), error.where.file) == files.end()) files.push_back(error.where.file);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return position(a) < position(b); });
    throw ConfigError(std::move(sorted));
}

Entry option_entry(Library& library, const Argument& argument) {
    const std::string option = "--" + argument.key;
    const Mark start = library.cite(option, option + " " + argument.value, "");
    return {argument.key, start, scalar_at({start.source, 1, static_cast<int>(option.size()) + 2}, argument.value)};
}

}  // namespace syncline::config
