#include <chrono>

#include "tests/unit/topologies.hpp"

// Properties of all shapes: their numbers of hosts, their wires, and limits.

using namespace syncline;

TEST_CASE("shapes: the number of hosts follows from the parameters", "[memory]") {
    TopologySpec spec = spec_of(Shape::ring);
    CHECK(make_topology(spec, fabric).hosts == 16);
    CHECK(make_topology(spec, overlay).hosts == 16);
    CHECK(make_topology(spec, fabric, 5).hosts == 5);
    spec.hosts = 8;
    CHECK(make_topology(spec, fabric, 5).hosts == 8);
    CHECK(make_topology(spec, overlay, 8).hosts == 8);
    check_refused(spec, overlay, 5, "hosts");
    check_refused(spec, overlay, 9, "hosts");
    check_refused(spec, fabric, 9, "hosts");
    spec.hosts = -1;
    check_refused(spec, fabric, 0, "hosts");
    CHECK_THROWS_AS(make_topology(spec_of(Shape::ring), fabric, -1), std::logic_error);
}

TEST_CASE("shapes: a plain shape has names, wires and levels", "[memory]") {
    TopologySpec spec = spec_of(Shape::star, 3);
    spec.name = "lab";
    spec.bandwidth_Bps = {1e9};
    spec.latency_s = {1e-6};
    const Topology star = make_topology(spec, fabric);
    CHECK(star.name == "lab");
    CHECK(star.graph[2].name == "host-2");
    CHECK(star.graph[3].level == 1);
    for (auto [edge, end] = boost::edges(star.graph); edge != end; ++edge) {
        CHECK(star.graph[*edge].wire.bandwidth_Bps == 1e9);
        CHECK(star.graph[*edge].wire.latency_s == 1e-6);
    }
    spec.latency_s = {1e-6, 2e-6};
    check_refused(spec, fabric, 0, "latency");
    spec.latency_s = {};
    spec.bandwidth_Bps = {};
    CHECK(cables_by_bandwidth(make_topology(spec, fabric)) == std::map<double, std::uint32_t>{{0, 3}});
    spec.directed = true;
    check_refused(spec, fabric, 0, "directed");
}

TEST_CASE("shapes: too many cables are rejected immediately") {
    const auto begin = std::chrono::steady_clock::now();
    constexpr std::int64_t billion = 1'000'000'000, huge = std::int64_t{1} << 62;
    for (const Shape shape : {Shape::star, Shape::ring, Shape::tree, Shape::exponential, Shape::torus, Shape::full_mesh,
                              Shape::hypercube, Shape::fat_tree, Shape::dragonfly}) {
        check_refused(spec_of(shape), fabric, billion, "hosts");
        check_refused(spec_of(shape, huge), fabric, 0, "hosts");
    }
    check_refused(spec_of(Shape::full_mesh), overlay, 1001, "hosts");  // 500 500 cables
    CHECK(make_topology(spec_of(Shape::full_mesh), overlay, 1000).cables == 499'500);
    TopologySpec spec = spec_of(Shape::torus);
    spec.dimensions = {500'000, 500'000, 500'000};
    check_refused(spec, fabric, 0, "dimensions");
    spec.dimensions = {huge, huge};
    check_refused(spec, fabric, 0, "dimensions");
    spec = spec_of(Shape::fat_tree);
    spec.ports = 400'000;
    check_refused(spec, fabric, 0, "ports");
    spec.ports = 0;
    spec.down = {2, 2, 2};
    spec.up = {1, 400'000, 400'000};
    check_refused(spec, fabric, 0, "up");
    spec.up = {1, 1, 1};
    spec.cables = {1, 400'000, 1};
    check_refused(spec, fabric, 0, "cables");
    spec = spec_of(Shape::dragonfly);
    spec.groups = spec.routers = spec.hosts_per_router = spec.global_links = 400'000;
    check_refused(spec, fabric, 0, "hosts_per_router");
    spec = spec_of(Shape::rails);
    spec.rails = 8;
    spec.spines = 400'000;
    check_refused(spec, fabric, 0, "spines");
    spec.spines = 1;
    spec.rails = 499'999;
    spec.nodes_per_group = 1;
    check_refused(spec, fabric, 0, "rails");
    spec = spec_of(Shape::tree);
    spec.arity = 400'000;
    spec.depth = 400'000;
    check_refused(spec, fabric, 0, "hosts");
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));  // with sanitizers, on a busy machine
}

TEST_CASE("shapes: every shape has the name it has in files", "[memory]") {
    CHECK(std::string(shape_name(Shape::star)) == "star");
    CHECK(std::string(shape_name(Shape::full_mesh)) == "full-mesh");
    CHECK(std::string(shape_name(Shape::fat_tree)) == "fat-tree");
    CHECK(std::string(shape_name(Shape::graph)) == "graph");
}

TEST_CASE("shapes: the same description makes the same topology, edge by edge", "[memory]") {
    for (const Shape shape : {Shape::star, Shape::ring, Shape::tree, Shape::exponential, Shape::torus, Shape::hypercube,
                              Shape::full_mesh, Shape::fat_tree, Shape::dragonfly}) {
        const auto listing = [&] {
            const Topology topology = make_topology(spec_of(shape), fabric, 16);
            std::vector<std::string> lines;
            for (auto [edge, end] = boost::edges(topology.graph); edge != end; ++edge)
                lines.push_back(topology.graph[boost::source(*edge, topology.graph)].name + " " +
                                topology.graph[boost::target(*edge, topology.graph)].name + " " +
                                std::to_string(topology.graph[*edge].cable));
            return lines;
        };
        CHECK(listing() == listing());
    }
}
