#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "sim/config/assembly.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/document/override.hpp"
#include "sim/document/reader.hpp"

namespace syncline::config {

namespace {

namespace fs = std::filesystem;

/// Returns the cluster of a platform; nothing if a key of it is wrong.
std::optional<Cluster> cluster_of(Assembly& assembly, Node platform) {
    Cluster cluster;
    std::vector<Diagnostic> errors;  // discarded: other keys of a platform are not checked here
    assembly.expand_platform(platform);
    read(
        platform, "platform", [&](Fields& fields) { describe(fields, cluster); }, errors);
    if (!errors.empty()) return std::nullopt;
    return cluster;
}

/// Returns the number of ports of a platform's nodes: of two, if it has as many nodes as needed.
std::int64_t ports_of(const Cluster& cluster) {
    constexpr std::int64_t default_hosts = 16;
    return cluster.nodes > 0 ? cluster.nodes * cluster.node.nics : std::max(default_hosts, 2 * cluster.node.nics);
}

/// Loads what `argument` names, as a topology's mapping. `cluster` becomes that of a platform.
Node load(Assembly& assembly, const std::string& argument, std::optional<Cluster>& cluster) {
    Node node = assembly.library.argument(argument);
    if (!is_shape(argument))
        node = assembly.load_argument(find_argument(argument, {"topology", "platform"}, shape_names()));
    assembly.expand_topology(&node);
    Node* fabric = node.find("topology") ? nullptr : node.find("fabric");
    const bool one_node = fabric == nullptr && node.find("per_node") && node.find("nodes");
    if (fabric == nullptr && !one_node) return node;
    cluster = cluster_of(assembly, node);
    if (one_node)
        return mapping_at(node.mark, {{"topology", node.mark, scalar_at(node.mark, shape_name(Shape::star))}});
    assembly.expand_topology(fabric);
    return Node(*fabric);
}

/// Shapes that need a key, with an assignment of it for those who only name the shape.
const std::map<std::string, std::pair<std::string, std::string>> needed_keys{
    {"rails", {"rails", "rails=4"}},
    {"hierarchical", {"levels", "levels=[{pattern: full-mesh, size: 4}, {pattern: ring}]"}},
};

/// Adds the key that the named shape needs, and returns its assignment; empty if it needs none.
std::string complete(Assembly& assembly, const std::string& argument, Node& document) {
    if (argument == "graph" && !document.find("edges") && !document.find("file"))
        throw ConfigError({{{argument, 1, 1, argument},
                            "a graph needs 'edges', or a 'file' that holds them",
                            "name a file, as in `syncline topology example.graphml`, or write `syncline topology graph "
                            "--set 'edges=[{from: a, to: b}, {from: b, to: c}]'`"}});
    const auto needed = needed_keys.find(argument);
    if (needed == needed_keys.end() || document.find(needed->second.first)) return "";
    merge(document, parse_assignment(assembly.library, needed->second.second));
    return needed->second.second;
}

}  // namespace

TopologyQuestion load_topology(const std::string& argument, const std::vector<std::string>& assignments, Use use) {
    Assembly assembly;
    TopologyQuestion question;
    Node document = load(assembly, argument, question.cluster);
    const std::int64_t hosts = question.cluster ? ports_of(*question.cluster) : 0;
    for (const std::string& text : assignments)
        assembly.attempt([&] { merge(document, parse_assignment(assembly.library, text)); });
    question.added = complete(assembly, argument, document);
    assembly.read(document, "topology", [&](Fields& fields) {
        describe(fields, question.spec);
        if (question.spec.name.empty()) question.spec.name = fs::path(argument).stem().string();
        if (!fields.sound()) return;
        if (auto topology = build(fields, question.spec, use, question.spec.hosts == 0 ? hosts : 0))
            question.topology = std::move(*topology);
    });
    assembly.finish();
    if (question.cluster) {
        question.cluster->fabric.topology = question.spec;
        if (question.spec.hosts > 0) question.cluster->nodes = question.spec.hosts / question.cluster->node.nics;
    }
    return question;
}

}  // namespace syncline::config
