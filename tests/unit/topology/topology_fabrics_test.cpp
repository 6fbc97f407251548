#include "tests/unit/topologies.hpp"

// Compares shapes with switches, and the user's own graphs, with their definitions.

using namespace syncline;

TEST_CASE("shapes: a k-ary fat tree has k³/4 hosts, 5k²/4 switches of k ports and as many cables at each level",
          "[memory]") {
    for (std::uint32_t k = 2; k <= 12; k += 2) {
        CAPTURE(k);
        TopologySpec spec = spec_of(Shape::fat_tree);
        spec.ports = k;
        spec.bandwidth_Bps = {1, 2, 3};
        const Topology tree = make_topology(spec, fabric);
        check_sound(tree);
        const std::uint32_t hosts = k * k * k / 4;
        CHECK(tree.hosts == hosts);
        CHECK(switches(tree) == 5 * k * k / 4);
        CHECK(cables_by_bandwidth(tree) == std::map<double, std::uint32_t>{{1, hosts}, {2, hosts}, {3, hosts}});
        for (std::uint32_t vertex = tree.hosts; vertex < tree.vertices(); ++vertex) CHECK(degree(tree, vertex) == k);
    }
    TopologySpec spec = spec_of(Shape::fat_tree);
    spec.ports = 4;
    const Topology tree = make_topology(spec, fabric);
    CHECK(neighbours(tree, "leaf-0") == Neighbours{"host-0", "host-1", "spine-0", "spine-1"});
    CHECK(neighbours(tree, "leaf-7") == Neighbours{"host-14", "host-15", "spine-6", "spine-7"});
    CHECK(neighbours(tree, "core-0") == Neighbours{"spine-0", "spine-2", "spine-4", "spine-6"});
    CHECK(neighbours(tree, "core-1") == Neighbours{"spine-1", "spine-3", "spine-5", "spine-7"});
}

TEST_CASE("shapes: the smallest k-ary fat tree with enough hosts is chosen", "[memory]") {
    for (std::int64_t n = 1; n <= 200; ++n) {
        CAPTURE(n);
        const std::int64_t hosts = make_topology(spec_of(Shape::fat_tree), fabric, n).hosts;
        CHECK(hosts == (n <= 2 ? 2 : n <= 16 ? 16 : n <= 54 ? 54 : n <= 128 ? 128 : 250));
        CHECK(make_topology(spec_of(Shape::fat_tree, n), fabric).hosts == hosts);
    }
}

TEST_CASE("shapes: a generalised fat tree has Π w · Π m vertices a level, with m·p cables down and w·p up",
          "[memory]") {
    for (unsigned choice = 0; choice < 128; ++choice) {
        const auto either = [&](unsigned bit, std::int64_t one, std::int64_t other) {
            return (choice >> bit & 1) != 0 ? other : one;
        };
        const std::int64_t m1 = either(0, 1, 3), m2 = either(1, 1, 4), m3 = either(2, 2, 3);
        const std::int64_t w1 = either(3, 1, 2), w2 = either(4, 1, 3), w3 = either(5, 1, 2), p2 = either(6, 1, 3);
        CAPTURE(m1, m2, m3, w1, w2, w3, p2);
        TopologySpec spec = spec_of(Shape::fat_tree);
        spec.down = {m1, m2, m3};
        spec.up = {w1, w2, w3};
        spec.cables = {1, p2, 1};
        const Topology tree = make_topology(spec, fabric);
        check_sound(tree);

        const std::vector<std::int64_t> ports{w1, m1 + w2 * p2, m2 * p2 + w3, m3};
        std::vector<std::int64_t> count(4, 0);
        std::vector<std::set<std::uint32_t>> below(tree.vertices());  // hosts reached downwards
        bool right = true;
        for (std::uint32_t vertex = 0; vertex < tree.vertices(); ++vertex) {
            const std::uint32_t level = tree.graph[vertex].level;
            ++count[level];
            right &= degree(tree, vertex) == static_cast<std::size_t>(ports[level]);
            if (level == 0) below[vertex] = {vertex};
            for (auto [edge, end] = boost::out_edges(vertex, tree.graph); edge != end; ++edge) {
                const auto other = static_cast<std::uint32_t>(boost::target(*edge, tree.graph));
                right &= tree.graph[other].level + 1 == level || tree.graph[other].level == level + 1;
                if (other < vertex) below[vertex].insert(below[other].begin(), below[other].end());
            }
            const std::vector<std::int64_t> hosts_below{1, m1, m1 * m2, m1 * m2 * m3};
            right &= std::ssize(below[vertex]) == hosts_below[level];
        }
        CHECK(right);
        CHECK(count == std::vector<std::int64_t>{m1 * m2 * m3, w1 * m2 * m3, w1 * w2 * m3, w1 * w2 * w3});
        for (const auto& [ends, cables] : connections(tree)) {
            const auto levels = std::minmax(tree.graph[ends.first].level, tree.graph[ends.second].level);
            right &= cables == (levels.first == 1 ? p2 : 1);
        }
        CHECK(right);
    }
}

TEST_CASE("shapes: fat trees equal those made by hand, and invalid parameters are rejected", "[memory]") {
    // Two levels: 3 leaves of 2 hosts, 2 spines, two cables between every leaf and spine.
    TopologySpec spec = spec_of(Shape::fat_tree);
    spec.down = {2, 3};
    spec.up = {1, 2};
    spec.cables = {1, 2};
    const Topology tree = make_topology(spec, fabric, 5);
    CHECK(tree.hosts == 6);
    CHECK(neighbours(tree, "leaf-1") == Neighbours{"host-2", "host-3", "spine-0", "spine-0", "spine-1", "spine-1"});
    CHECK(neighbours(tree, "spine-1") == Neighbours{"leaf-0", "leaf-0", "leaf-1", "leaf-1", "leaf-2", "leaf-2"});

    check_refused(spec, fabric, 7, "hosts");
    check_refused(spec, overlay, 6, "shape");
    spec.cables = {1};
    check_refused(spec, fabric, 0, "cables");
    spec.cables = {1, 0};
    check_refused(spec, fabric, 0, "cables");
    spec.cables = {};
    spec.ports = 4;
    check_refused(spec, fabric, 0, "ports");
    spec.ports = 0;
    spec.up = {1, 1, 1};
    check_refused(spec, fabric, 0, "up");
    spec.down = {};
    check_refused(spec, fabric, 0, "up");
    spec.up = {};
    spec.ports = 5;
    check_refused(spec, fabric, 0, "ports");
}

TEST_CASE("shapes: a dragonfly is groups of routers, every two of which have a global cable", "[memory]") {
    for (std::int64_t a = 1; a <= 4; ++a) {
        for (std::int64_t h = 1; h <= 3; ++h) {
            for (std::int64_t p = 1; p <= 2; ++p) {
                for (std::int64_t g = 1; g <= a * h + 1; ++g) {
                    CAPTURE(a, h, p, g);
                    TopologySpec spec = spec_of(Shape::dragonfly);
                    spec.routers = a;
                    spec.global_links = h;
                    spec.hosts_per_router = p;
                    spec.groups = g;
                    spec.bandwidth_Bps = {1, 2, 3};
                    const Topology dragonfly = make_topology(spec, fabric);
                    check_sound(dragonfly);
                    CHECK(dragonfly.hosts == a * p * g);
                    CHECK(switches(dragonfly) == a * g);
                    const std::int64_t each = g == 1 ? 0 : a * h / (g - 1);
                    auto cables = cables_by_bandwidth(dragonfly);
                    CHECK(cables[1] == a * p * g);
                    CHECK(cables[2] == g * a * (a - 1) / 2);
                    CHECK(cables[3] == each * g * (g - 1) / 2);
                    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> between;
                    for (std::uint32_t router = dragonfly.hosts; router < dragonfly.vertices(); ++router) {
                        CHECK(degree(dragonfly, router) <= static_cast<std::size_t>(p + a - 1 + h));
                        for (auto [edge, end] = boost::out_edges(router, dragonfly.graph); edge != end; ++edge) {
                            if (dragonfly.graph[*edge].wire.bandwidth_Bps != 3) continue;
                            const auto other = static_cast<std::int64_t>(boost::target(*edge, dragonfly.graph));
                            ++between[{(router - dragonfly.hosts) / a, (other - dragonfly.hosts) / a}];
                        }
                    }
                    CHECK(between.size() == static_cast<std::size_t>(g * (g - 1)));
                    for (const auto& [groups, count] : between) CHECK(count == each);
                }
            }
        }
    }
}

TEST_CASE("shapes: dragonflies equal those made by hand, balanced ones too, and invalid parameters are rejected",
          "[memory]") {
    // a = 2, p = h = 1, three groups: group 0's ports lead to groups 1 and 2, group 1's to 0 and 2, group 2's to 0
    // and 1.
    const Topology smallest = make_topology(spec_of(Shape::dragonfly), fabric, 6);
    CHECK(smallest.hosts == 6);
    CHECK(neighbours(smallest, "router-0-0") == Neighbours{"host-0", "router-0-1", "router-1-0"});
    CHECK(neighbours(smallest, "router-0-1") == Neighbours{"host-1", "router-0-0", "router-2-0"});
    CHECK(neighbours(smallest, "router-1-1") == Neighbours{"host-3", "router-1-0", "router-2-1"});
    // p = 2: a = 4, h = 2, g = 9: 72 hosts. p = 3: 6 · 3 · 19 = 342.
    CHECK(make_topology(spec_of(Shape::dragonfly), fabric, 7).hosts == 72);
    CHECK(make_topology(spec_of(Shape::dragonfly), fabric, 73).hosts == 342);
    TopologySpec spec = spec_of(Shape::dragonfly);
    spec.hosts_per_router = 2;
    CHECK(make_topology(spec, fabric, 3).hosts == 72);
    check_refused(spec, fabric, 73, "hosts");
    check_refused(spec, overlay, 72, "shape");
    spec.routers = 2;
    spec.global_links = 1;
    spec.groups = 4;  // two ports for three other groups
    check_refused(spec, fabric, 0, "groups");
    spec.hosts_per_router = 0;
    check_refused(spec, fabric, 0, "groups");
    spec.global_links = 0;  // by default there are enough: p = h = 2 for 16 hosts
    CHECK(make_topology(spec, fabric).hosts == 16);
}

TEST_CASE("shapes: rails without common spines are networks of their own", "[memory]") {
    TopologySpec spec = spec_of(Shape::rails);
    spec.rails = 2;
    spec.spines = 0;
    const Topology leaves = make_topology(spec, fabric, 8);
    CHECK(leaves.parts == 2);
    CHECK(switches(leaves) == 2);
    CHECK(neighbours(leaves, "leaf-1") == Neighbours{"host-1", "host-3", "host-5", "host-7"});
    spec.nodes_per_group = 2;
    check_refused(spec, fabric, 8, "spines");
    // Two groups, so two leaves of each rail; three spines join these, and none joins the rails.
    spec.rail_spines = 3;
    for (const std::int64_t spines : {-1, 0}) {
        spec.spines = spines;
        const Topology planes = make_topology(spec, fabric, 8);
        CHECK(planes.parts == 2);
        CHECK(switches(planes) == 4 + 6);
        CHECK(neighbours(planes, "rail-1-spine-2") == Neighbours{"leaf-1", "leaf-3"});
    }
    spec.spines = 1;
    CHECK(make_topology(spec, fabric, 8).parts == 1);
}

TEST_CASE("shapes: on rails, port r of every node is on a leaf of rail r", "[memory]") {
    for (std::int64_t rails = 1; rails <= 4; ++rails) {
        for (std::int64_t nodes = 1; nodes <= 9; ++nodes) {
            for (std::int64_t group = 0; group <= 4; ++group) {
                for (std::int64_t spines = -1; spines <= 3; ++spines) {
                    if (spines == 0) continue;
                    CAPTURE(rails, nodes, group, spines);
                    TopologySpec spec = spec_of(Shape::rails);
                    spec.rails = rails;
                    spec.nodes_per_group = group;
                    spec.spines = spines;
                    spec.bandwidth_Bps = {1, 2};
                    const Topology topology = make_topology(spec, fabric, nodes * rails);
                    check_sound(topology);
                    const std::int64_t size = group == 0 ? nodes : group;
                    const std::int64_t leaves = (nodes + size - 1) / size * rails;
                    const std::int64_t built = spines >= 0 ? spines : leaves > 1 ? 1 : 0;
                    CHECK(topology.hosts == nodes * rails);
                    CHECK(switches(topology) == leaves + built);
                    CHECK(topology.cables == nodes * rails + leaves * built);
                    for (std::uint32_t host = 0; host < topology.hosts; ++host) {
                        const std::int64_t leaf = host / rails / size * rails + host % rails;
                        CHECK(neighbours(topology, "host-" + std::to_string(host)) ==
                              Neighbours{"leaf-" + std::to_string(leaf)});
                    }
                }
            }
        }
    }
    TopologySpec spec = spec_of(Shape::rails);
    check_refused(spec, fabric, 8, "rails");
    spec.rails = 8;
    CHECK(make_topology(spec, fabric, 3).hosts == 8);
    CHECK(make_topology(spec, fabric, 9).hosts == 16);
    check_refused(spec, overlay, 8, "shape");
    spec.hosts = 12;
    check_refused(spec, fabric, 0, "hosts");
}

TEST_CASE("shapes: a graph has the user's vertices and edges", "[memory]") {
    TopologySpec spec = spec_of(Shape::graph);
    spec.edges = {{"s", "b", {}}, {"a", "s", {5, 0}}, {"s", "t", {}}, {"c", "t", {0, 7}}};
    spec.switches = {"t", "s"};
    spec.bandwidth_Bps = {10, 40};
    spec.latency_s = {1, 2};
    const Topology graph = make_topology(spec, fabric, 2);
    check_sound(graph);
    std::vector<std::string> names;
    for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) names.push_back(graph.graph[vertex].name);
    CHECK(names == std::vector<std::string>{"b", "a", "c", "t", "s"});
    CHECK(graph.hosts == 3);
    const auto wire = [&](const std::string& from, const std::string& to) {
        return graph.graph[boost::edge(vertex_named(graph, from), vertex_named(graph, to), graph.graph).first].wire;
    };
    CHECK(wire("b", "s").bandwidth_Bps == 10);
    CHECK(wire("a", "s").bandwidth_Bps == 5);
    CHECK(wire("a", "s").latency_s == 1);
    CHECK(wire("t", "s").bandwidth_Bps == 40);
    CHECK(wire("t", "c").bandwidth_Bps == 10);
    CHECK(wire("t", "c").latency_s == 7);

    check_refused(spec, fabric, 4, "hosts");
    check_refused(spec, overlay, 3, "switches");
    TopologySpec bad = spec;
    bad.bandwidth_Bps = {10, 40, 40};
    check_refused(bad, fabric, 0, "bandwidth");
    bad = spec;
    bad.switches.push_back("u");
    check_refused(bad, fabric, 0, "switches");
    bad = spec;
    bad.switches.push_back("t");
    check_refused(bad, fabric, 0, "switches");
    bad = spec;
    bad.edges.push_back({"a", "a", {}});
    check_refused(bad, fabric, 0, "edges");
    bad = spec;
    bad.edges.push_back({"b", "s", {}});
    check_refused(bad, fabric, 0, "edges");
    bad = spec;
    bad.edges.push_back({"x", "y", {}});
    check_refused(bad, fabric, 0, "");  // not connected
    bad = spec;
    bad.edges.clear();
    check_refused(bad, fabric, 0, "edges");
    bad = spec_of(Shape::graph);
    bad.edges = {{"s", "t", {}}};
    bad.switches = {"s", "t"};
    check_refused(bad, fabric, 0, "switches");

    TopologySpec path = spec_of(Shape::graph);
    path.edges = {{"x", "y", {}}, {"y", "z", {}}};
    CHECK(make_topology(path, overlay, 3).graph[2].name == "z");
    check_refused(path, overlay, 2, "hosts");
}
