#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Tests `syncline topology`: shapes and files are measured, drawn and converted. Mistakes are in
// tests/cases/verb_topology.cases.

using namespace syncline::test;
using nlohmann::json;

namespace {

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

Outcome ask(const TempDir& directory, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "topology");
    return run_program({.arguments = std::move(arguments), .directory = directory.path(), .limit_s = 60 * patience});
}

json measured(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const TempDir directory;
    const Outcome outcome = ask(directory, arguments);
    CAPTURE(arguments, outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    return json::parse(outcome.out);
}

void check_refused(const Outcome& outcome, const std::string& message, const std::string& hint = "") {
    CAPTURE(outcome.err, message, hint);
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
    CHECK(holds(outcome.err, message));
    CHECK(holds(outcome.err, hint));
    CHECK(holds(outcome.err, "^\n"));
    CHECK_FALSE(holds(outcome.err, "bug in"));
}

/// Returns a ring of `hosts` hosts in GraphML.
std::string ring_graphml(int edges) {
    std::string text = "<graphml><graph edgedefault=\"undirected\">\n";
    for (int i = 0; i < edges; ++i) text += "<node id=\"" + std::to_string(i) + "\"/>\n";
    for (int i = 0; i < edges; ++i)
        text += "<edge source=\"" + std::to_string(i) + "\" target=\"" + std::to_string((i + 1) % edges) + "\"/>\n";
    return text + "</graph></graphml>\n";
}

}  // namespace

TEST_CASE("topology: JSON is one object with the documented fields", "[memory]") {
    const json ring = measured({"ring", "--set", "hosts=8", "--set", "bandwidth=8 Gbps"});
    std::set<std::string> keys;
    for (const auto& [key, value] : ring.items()) keys.insert(key);
    CHECK(keys == std::set<std::string>{"schema_version",
                                        "name",
                                        "topology",
                                        "use",
                                        "hosts",
                                        "switches",
                                        "cables",
                                        "ports",
                                        "switch_ports",
                                        "least_degree",
                                        "most_degree",
                                        "diameter_hops",
                                        "average_distance_hops",
                                        "distances_exact",
                                        "bisection_cables",
                                        "bisection_bandwidth_Bps",
                                        "bisection_exact",
                                        "bisection_basis",
                                        "edge_connectivity",
                                        "spectral_gap",
                                        "levels"});
    CHECK(ring["levels"].empty());
    CHECK(ring["schema_version"] == 1);
    CHECK(ring["name"] == "ring");
    CHECK(ring["topology"] == "ring");
    CHECK(ring["use"] == "fabric");
    CHECK(ring["hosts"] == 8);
    CHECK(ring["switches"] == 0);
    CHECK(ring["cables"] == 8);
    CHECK(ring["ports"] == 16);
    CHECK(ring["diameter_hops"] == 4);
    // Distances 1, 2, 3 twice and 4 once: 16/7.
    CHECK(ring["average_distance_hops"].get<double>() == Approx(16.0 / 7));
    CHECK(ring["bisection_cables"] == 2);
    CHECK(ring["bisection_bandwidth_Bps"] == 2e9);
    CHECK(ring["bisection_exact"] == true);
    CHECK(ring["edge_connectivity"] == 2);
    // 1 - (1 + 2 cos(2π/8))/3
    CHECK(ring["spectral_gap"].get<double>() == Approx((2 - std::sqrt(2.0)) / 3));
}

TEST_CASE("topology: a shape has 16 hosts by default, and the last --set overrides earlier ones", "[memory]") {
    for (const char* shape : {"star", "ring", "tree", "exponential", "torus", "hypercube", "full-mesh", "fat-tree"}) {
        CAPTURE(shape);
        CHECK(measured({shape})["hosts"] == 16);
    }
    CHECK(measured({"star", "--set", "hosts=64", "--set", "hosts=5"})["hosts"] == 5);
    CHECK(measured({"star"})["switches"] == 1);
    CHECK(measured({"star"})["bisection_bandwidth_Bps"].is_null());
    CHECK(measured({"star"})["spectral_gap"].is_null());
    const json overlay = measured({"star", "--as", "overlay"});
    CHECK(overlay["use"] == "overlay");
    CHECK(overlay["switches"] == 0);
    CHECK(overlay["cables"] == 15);
}

TEST_CASE("topology: files of every kind are read, and a shape's name means the shape even if such a file exists",
          "[memory]") {
    const TempDir directory;
    directory.write("net.yaml", "topology: star\nhosts: 3\n");
    directory.write("fast.yaml", "name: mine\ntopology: star\nhosts: 3\n");
    directory.write("platform.yaml",
                    "nodes: 2\ndevice: {flops: 1 Tflops, memory_bandwidth: 1 TBps}\nfabric: net.yaml\n");
    directory.write("ring", "topology: star\nhosts: 3\n");
    const auto value = [&](const char* argument, const char* key) {
        const Outcome outcome = ask(directory, {argument, "--format", "json"});
        CAPTURE(argument, outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)[key];
    };
    CHECK(value("net.yaml", "name") == "net");
    CHECK(value("net.yaml", "hosts") == 3);
    CHECK(value("fast.yaml", "name") == "mine");
    CHECK(value("platform.yaml", "hosts") == 3);
    CHECK(value("ring", "topology") == "ring");
    CHECK(value("./ring", "topology") == "star");
    for (const char* file : {"topologies/example.graphml", "topologies/example.dot"}) {
        const json read = measured({shipped(file)});
        CAPTURE(file);
        CHECK(read["name"] == "example");
        CHECK(read["topology"] == "graph");
        CHECK(read["hosts"] == 4);
        CHECK(read["switches"] == 2);
        CHECK(read["bisection_cables"] == 1);
        CHECK(read["bisection_bandwidth_Bps"] == 5e9);
    }
}

TEST_CASE("topology: shipped files are as their comments describe", "[memory]") {
    const auto file = [](const std::string& name) { return measured({shipped("topologies/" + name + ".yaml")}); };
    const json tree = file("tree"), oversubscribed = file("tree-4to1");
    CHECK(tree["hosts"] == 16);
    CHECK(tree["switches"] == 5);
    // Two leaves against two: 2 × 100 Gb/s, or 2 × 25.
    CHECK(tree["bisection_bandwidth_Bps"] == 25e9);
    CHECK(oversubscribed["bisection_bandwidth_Bps"] == 6.25e9);
    const json fat = file("fat-tree");
    CHECK(fat["hosts"] == 16);
    CHECK(fat["switches"] == 6);
    CHECK(fat["switch_ports"] == 8);
    CHECK(fat["bisection_bandwidth_Bps"] == 8 * 25e9 / 8);
    const json dragonfly = file("dragonfly");
    CHECK(dragonfly["hosts"] == 72);
    CHECK(dragonfly["switches"] == 36);
    CHECK(dragonfly["switch_ports"] == 7);
    const json cube = file("torus-3d");
    CHECK(cube["hosts"] == 64);
    CHECK(cube["most_degree"] == 6);
    const json rails = file("rails");
    CHECK(rails["hosts"] == 512);
    CHECK(rails["switches"] == 16 + 8);
    const json dgx = file("graph");
    CHECK(dgx["hosts"] == 8);
    CHECK(dgx["cables"] == 16);
    CHECK(dgx["least_degree"] == 4);
    CHECK(dgx["most_degree"] == 4);
}

TEST_CASE("topology: the oversubscription of each level of switches is reported", "[memory]") {
    const auto levels = [](const std::string& name, const std::vector<std::string>& more = {}) {
        std::vector<std::string> arguments{shipped("topologies/" + name + ".yaml")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return measured(arguments)["levels"];
    };
    // Four hosts at 25 Gb/s are below a leaf, and the same bandwidth is above it; nothing is above the spines.
    const json fat = levels("fat-tree");
    REQUIRE(fat.size() == 2);
    CHECK(fat[0] == json{{"level", 1},
                         {"switches", 4},
                         {"cables_down", 16},
                         {"cables_up", 16},
                         {"down_Bps", 16 * 25e9 / 8},
                         {"up_Bps", 16 * 25e9 / 8},
                         {"oversubscription", 1.0}});
    CHECK(fat[1]["cables_down"] == 16);
    CHECK(fat[1]["cables_up"] == 0);
    CHECK(fat[1]["oversubscription"].is_null());
    // The expected values are those in the file's comment.
    CHECK(levels("tree-4to1")[0]["oversubscription"] == 4.0);
    CHECK(levels("tree-4to1")[1]["oversubscription"].is_null());
    CHECK(levels("tree")[0]["oversubscription"] == 1.0);
    // The spines have twice the cables, each with half the bandwidth.
    CHECK(levels("fat-tree", {"--set", "bandwidth=[25 Gbps, 12.5 Gbps]"})[0]["oversubscription"] == 2.0);
    // Without bandwidths the numbers of cables count. Routers of a dragonfly have no level above them.
    CHECK(measured({"fat-tree", "--set", "ports=4"})["levels"][0]["oversubscription"] == 1.0);
    CHECK(measured({"fat-tree", "--set", "down=[8,4]", "--set", "up=[1,2]"})["levels"][0]["oversubscription"] == 4.0);
    CHECK(levels("dragonfly")[0]["oversubscription"].is_null());
    const TempDir directory;
    const Outcome table = ask(directory, {shipped("topologies/tree-4to1.yaml")});
    CHECK(holds(table.out, "\noversubscription   4:1 at switches of level 1 (16 cables down, 4 cables up)\n"));
    CHECK_FALSE(holds(ask(directory, {"ring"}).out, "oversubscription"));
}

TEST_CASE("topology: the table has a line for each metric", "[memory]") {
    const TempDir directory;
    const Outcome outcome = ask(directory, {"tree", "--set", "bandwidth=25 Gbps"});
    REQUIRE(outcome.status == 0);
    for (const char* line :
         {"tree: tree as a fabric\n", "\nhosts ", "\nswitches ", "\ncables ", "\nports ", "\ndegree ", "\ndiameter ",
          "\naverage distance ", "\nbisection ", "\nedge connectivity ", "\nspectral gap ", "25 Gb/s", " hops"})
        CHECK(holds(outcome.out, line));
    const Outcome overlay = ask(directory, {"ring", "--as", "overlay"});
    CHECK(holds(overlay.out, "ring: ring as an overlay\n"));
    CHECK_FALSE(holds(overlay.out, "Gb/s"));
}

TEST_CASE("topology: drawings and conversions can be read again", "[memory]") {
    const TempDir directory;
    for (const char* format : {"dot", "graphml"}) {
        CAPTURE(format);
        const std::string file = std::string("copy.") + format;
        const Outcome outcome = ask(
            directory, {shipped("topologies/fat-tree.yaml"), "--format", format, "--set", "cables=~", "--out", file});
        CAPTURE(outcome.err);
        CHECK(outcome.status == 0);
        CHECK(outcome.out.empty());
        CHECK(directory.list() == std::vector<std::string>{file});
        const json copy = json::parse(ask(directory, {file, "--format", "json"}).out);
        CHECK(copy["hosts"] == 16);
        CHECK(copy["switches"] == 6);
        CHECK(copy["cables"] == 24);
        fs::remove(directory / file);
    }
    // A link is followed, not replaced.
    fs::create_symlink("aim.json", directory / "link.json");
    directory.write("aim.json", "old");
    CHECK(ask(directory, {"ring", "--format", "json", "--out", "link.json"}).status == 0);
    CHECK(fs::is_symlink(directory / "link.json"));
    CHECK(json::parse(read_file(directory / "aim.json"))["topology"] == "ring");
    const Outcome drawing = ask(directory, {"torus", "--format", "svg"});
    CHECK(drawing.status == 0);
    CHECK(holds(drawing.out, "<svg"));
    CHECK(drawing.out.ends_with("</svg>\n"));
    CHECK(ask(directory, {"torus", "--format", "svg"}).out == drawing.out);
    const std::vector<std::string> large{"fat-tree", "--set", "hosts=1024", "--format", "svg"};
    CHECK(holds(ask(directory, large).out, ">8 racks of 8 hosts</text>"));
    const std::string all = ask(directory, {"fat-tree", "--set", "hosts=1024", "--format", "svg", "--expand"}).out;
    CHECK(holds(all, "<title>host-1023</title>"));
    CHECK_FALSE(holds(all, "racks of"));
}

TEST_CASE("topology: oversized graph files are errors") {
    const TempDir directory;
    directory.write("good.graphml", ring_graphml(6));
    CHECK(ask(directory, {"good.graphml"}).status == 0);
    directory.write("million.graphml", ring_graphml(1'000'000));
    check_refused(ask(directory, {"million.graphml"}),
                  "million.graphml:1:1: error: million.graphml: ", "more than 500000 edges");
    directory.write("huge.dot", std::string(65 << 20, ' '));
    check_refused(ask(directory, {"huge.dot"}), "is too large", "the maximum is 64 MiB");
    std::string edges = "topology: graph\nedges:\n";
    for (int i = 0; i < 200'000; ++i) edges += "- {from: a" + std::to_string(i) + ", to: b}\n";
    directory.write("many.yaml", edges);
    check_refused(ask(directory, {"many.yaml"}), "this file has too many tokens");
}
