#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/check/check.hpp"
#include "sim/config/assembly.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/document/shared_schema.hpp"
#include "tests/catch.hpp"

// The field table of topologies: files become a TopologySpec, and errors are reported at their place.

using namespace syncline;
using namespace syncline::config;

namespace {

struct Read {
    TopologySpec spec;
    std::vector<Diagnostic> errors;
};

/// Returns `text` as a topology file in topologies/, made as `use`.
Read read_text(const std::string& text, Use use = Use::fabric) {
    Assembly assembly;
    Read result;
    const Node node = assembly.library.parse("test.yaml", text, SYNCLINE_SOURCE_DIR "/topologies");
    assembly.read(node, "topology", [&](Fields& fields) {
        describe(fields, result.spec);
        if (fields.sound()) build(fields, result.spec, use);
    });
    try {
        assembly.finish();
    } catch (const ConfigError& error) {
        result.errors = error.diagnostics();
    }
    return result;
}

TopologySpec accepted(const std::string& text, Use use = Use::fabric) {
    const Read result = read_text(text, use);
    INFO(text);
    for (const Diagnostic& error : result.errors) UNSCOPED_INFO(render(error));
    CHECK(result.errors.empty());
    return result.spec;
}

/// Returns `line:column: message` of the only error, and its hint after a bar if it has one.
std::string error_in(const std::string& text, Use use = Use::fabric) {
    const Read result = read_text(text, use);
    INFO(text);
    for (const Diagnostic& error : result.errors) UNSCOPED_INFO(render(error));
    REQUIRE(result.errors.size() == 1);
    const Diagnostic& error = result.errors[0];
    return fmt::format("{}:{}: {}{}{}", error.where.line, error.where.column, error.message,
                       error.hint.empty() ? "" : " | ", error.hint);
}

using Numbers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("topology files: every key reaches the spec", "[memory]") {
    const TopologySpec star = accepted("name: s\ntopology: star\nhosts: 7\nbandwidth: 8 Gbps\nlatency: 2 us\n");
    CHECK(star.name == "s");
    CHECK(star.shape == Shape::star);
    CHECK(star.hosts == 7);
    CHECK(star.bandwidth_Bps == std::vector<double>{1e9});
    CHECK(star.latency_s == std::vector<double>{2e-6});

    const TopologySpec tree =
        accepted("topology: tree\narity: 3\ndepth: 2\nbandwidth: [8 Gbps, 2 GBps]\nlatency: [none, 1 s]\n");
    CHECK(tree.arity == 3);
    CHECK(tree.depth == 2);
    CHECK(tree.bandwidth_Bps == std::vector<double>{1e9, 2e9});
    CHECK(tree.latency_s == std::vector<double>{0, 1});

    CHECK(accepted("{topology: exponential, directed: true}", Use::overlay).directed);
    CHECK(accepted("{topology: torus, dimensions: [2, 3, 5]}").dimensions == Numbers{2, 3, 5});
    const TopologySpec fat = accepted("{topology: fat-tree, down: [4, 4], up: [1, 2], cables: [1, 2]}");
    CHECK(fat.down == Numbers{4, 4});
    CHECK(fat.up == Numbers{1, 2});
    CHECK(fat.cables == Numbers{1, 2});
    CHECK(accepted("{topology: fat-tree, ports: 4}").ports == 4);

    const TopologySpec fly =
        accepted("{topology: dragonfly, groups: 9, routers: 4, hosts_per_router: 3, global_links: 2}");
    CHECK(fly.groups == 9);
    CHECK(fly.routers == 4);
    CHECK(fly.hosts_per_router == 3);
    CHECK(fly.global_links == 2);
    const TopologySpec rails = accepted("{topology: rails, hosts: 16, rails: 4, nodes_per_group: 2, spines: 3}");
    CHECK(rails.rails == 4);
    CHECK(rails.nodes_per_group == 2);
    CHECK(rails.spines == 3);

    const TopologySpec levels =
        accepted("topology: hierarchical\nlevels:\n  - {pattern: full-mesh, size: 4}\n  - {pattern: ring}\n");
    REQUIRE(levels.levels.size() == 2);
    CHECK(levels.levels[0].pattern == Shape::full_mesh);
    CHECK(levels.levels[0].size == 4);
    CHECK(levels.levels[1].pattern == Shape::ring);
    CHECK(levels.levels[1].size == 0);
}

TEST_CASE("topology files: a graph's edges are read, and those of another tool's file", "[memory]") {
    const TopologySpec graph = accepted(
        "topology: graph\nswitches: [s]\nedges:\n  - {from: a, to: s, bandwidth: 8 Gbps, latency: 1 s}\n"
        "  - {from: b, to: s}\n");
    CHECK(graph.switches == std::vector<std::string>{"s"});
    REQUIRE(graph.edges.size() == 2);
    CHECK(graph.edges[0].from == "a");
    CHECK(graph.edges[0].to == "s");
    CHECK(graph.edges[0].wire.bandwidth_Bps == 1e9);
    CHECK(graph.edges[0].wire.latency_s == 1);
    CHECK(graph.edges[1].wire.bandwidth_Bps == 0);

    for (const char* file : {"example.graphml", "example.dot"}) {
        const TopologySpec read = accepted(fmt::format("{{topology: graph, file: {}}}", file));
        CHECK(read.switches == std::vector<std::string>{"left", "right"});
        REQUIRE(read.edges.size() == 5);
        CHECK(read.edges[2].wire.bandwidth_Bps == 5e9);
        CHECK(read.edges[2].wire.latency_s == 1e-6);
    }
}

TEST_CASE("topology files: omitted keys have their defaults", "[memory]") {
    const TopologySpec spec = accepted("{}");
    CHECK(spec.shape == Shape::star);
    CHECK(spec.hosts == 0);
    CHECK(spec.depth == 0);
    CHECK(spec.bandwidth_Bps.empty());
}

TEST_CASE("topology files: a key of another shape is refused", "[memory]") {
    const std::pair<const char*, const char*> keys[] = {
        {"directed: true", "exponential"},
        {"arity: 2", "tree"},
        {"depth: 2", "tree"},
        {"dimensions: [2]", "torus"},
        {"down: [2]", "fat-tree"},
        {"up: [2]", "fat-tree"},
        {"cables: [2]", "fat-tree"},
        {"ports: 4", "fat-tree"},
        {"groups: 2", "dragonfly"},
        {"routers: 2", "dragonfly"},
        {"global_links: 2", "dragonfly"},
        {"hosts_per_router: 2", "dragonfly"},
        {"rails: 2", "rails"},
        {"nodes_per_group: 2", "rails"},
        {"spines: 2", "rails"},
        {"switches: [a]", "graph"},
        {"edges: [{from: a, to: b}]", "graph"},
        {"file: example.dot", "graph"},
        {"levels: [{pattern: ring, size: 2}]", "hierarchical"},
    };
    for (const auto& [key, owner] : keys)
        for (const std::string& shape : shape_names()) {
            if (shape == owner) continue;
            CAPTURE(key, shape);
            const Read result = read_text(fmt::format("topology: {}\n{}\n", shape, key));
            bool refused = false;
            for (const Diagnostic& error : result.errors)
                refused =
                    refused || (error.where.line == 2 && error.message.find("has no effect in") != std::string::npos &&
                                error.hint.find(fmt::format("`topology: {}`", owner)) != std::string::npos);
            CHECK(refused);
        }
}

TEST_CASE("topology files: a shape that needs parameters cannot be made without them", "[memory]") {
    for (const char* shape : {"fat-tree", "dragonfly", "rails"}) {
        CAPTURE(shape);
        CHECK(error_in(fmt::format("{{topology: {}}}", shape), Use::overlay).starts_with("1:12: "));
    }
}

TEST_CASE("topology files: an overlay ignores levels of bandwidth", "[memory]") {
    accepted("{topology: tree, arity: 2, bandwidth: [1 Gbps, 2 Gbps]}", Use::overlay);
}

TEST_CASE("topology files: a name can be a shape or a file wherever a topology can be", "[memory]") {
    Assembly assembly;
    Node document = assembly.library.parse(
        "test.yaml", "{platform: {fabric: ring.yaml}, training: {overlay: ring}, overlay: example.dot}",
        SYNCLINE_SOURCE_DIR "/topologies");
    assembly.expand_references(document);
    assembly.finish();
    CHECK(document.find("platform")->find("fabric")->find("bandwidth")->scalar == "25 Gbps");
    const Node& shape = *document.find("training")->find("overlay");
    CHECK(shape.entries.size() == 1);
    CHECK(shape.find("topology")->scalar == "ring");
    const Node& graph = *document.find("overlay");
    CHECK(graph.find("topology")->scalar == "graph");
    CHECK(graph.find("file")->scalar == "example.dot");
    CHECK(locate(graph.mark).column == 69);
}

TEST_CASE("topology files: the schema lists every key and shape", "[memory]") {
    const auto schema = expanded(nlohmann::json::parse(schema_of("topology")));
    CHECK(schema["properties"]["topology"]["enum"] == nlohmann::json(shape_names()));
    CHECK(shape_names().size() == 12);
    CHECK_FALSE(schema["properties"]["hosts"].contains("default"));
    CHECK(schema["properties"]["arity"]["default"] == 2);
}
