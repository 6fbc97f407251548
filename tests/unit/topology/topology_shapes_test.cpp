#include <bit>

#include "tests/unit/topologies.hpp"

// Compares every shape with its definition: numbers of vertices and cables by formula, neighbours by hand where that is
// feasible, and by a predicate over all pairs otherwise. Overlays are included.

using namespace syncline;

TEST_CASE("shapes: a ring joins each host with the next one", "[memory]") {
    for (std::uint32_t n = 1; n <= 40; ++n) {
        for (const Use use : {fabric, overlay}) {
            CAPTURE(n);
            const Topology ring = make_topology(spec_of(Shape::ring), use, n);
            CHECK(ring.hosts == n);
            CHECK(ring.cables == (n == 1 ? 0 : n == 2 ? 1 : n));
            check_pairs(ring, [n](auto a, auto b) { return (a + 1) % n == b || (b + 1) % n == a; });
        }
    }
}

TEST_CASE("shapes: a full mesh joins every two", "[memory]") {
    for (std::uint32_t n = 1; n <= 40; ++n) {
        CAPTURE(n);
        const Topology mesh = make_topology(spec_of(Shape::full_mesh), overlay, n);
        CHECK(mesh.cables == n * (n - 1) / 2);
        check_pairs(mesh, [](auto, auto) { return true; });
    }
}

TEST_CASE("shapes: a hypercube joins hosts whose numbers differ in one bit", "[memory]") {
    for (std::uint32_t n = 1; n <= 128; n *= 2) {
        CAPTURE(n);
        const Topology cube = make_topology(spec_of(Shape::hypercube), fabric, n);
        CHECK(2 * cube.cables == n * static_cast<std::uint32_t>(std::countr_zero(n)));
        check_pairs(cube, [](auto a, auto b) { return std::has_single_bit(a ^ b); });
    }
    for (const std::int64_t n : {3, 5, 6, 7, 9, 12, 100}) check_refused(spec_of(Shape::hypercube), fabric, n, "hosts");
    try {
        make_topology(spec_of(Shape::hypercube, 12), fabric);
        FAIL("accepted");
    } catch (const TopologyError& error) {
        CHECK(std::string(error.what()) == "the number of hosts of a hypercube must be a power of two, not 12");
        CHECK(error.hint == "8 or 16");
    }
}

TEST_CASE("shapes: the exponential graph joins i with i ± 2^k", "[memory]") {
    const auto is_power = [](std::uint32_t distance) { return std::has_single_bit(distance); };
    for (std::uint32_t n = 1; n <= 70; ++n) {
        CAPTURE(n);
        TopologySpec spec = spec_of(Shape::exponential);
        check_pairs(make_topology(spec, overlay, n),
                    [&](auto a, auto b) { return is_power((a + n - b) % n) || is_power((b + n - a) % n); });

        spec.directed = true;
        const Topology one_way = make_topology(spec, overlay, n);
        const auto all = connections(one_way);
        for (std::uint32_t a = 0; a < n; ++a) {
            CHECK(degree(one_way, a) == static_cast<std::size_t>(std::bit_width(n - 1)));  // ⌈log2 n⌉
            for (std::uint32_t power = 1; power < n; power *= 2) CHECK(all.count({a, (a + power) % n}) == 1);
        }
        CHECK(one_way.directed() == (n > 1));
    }
    // By hand: 0's distances in 6 are 1, 2, 4 and back 5, 4, 2.
    CHECK(neighbours(make_topology(spec_of(Shape::exponential), overlay, 6), "rank-0") ==
          Neighbours{"rank-1", "rank-2", "rank-4", "rank-5"});
}

TEST_CASE("shapes: a torus joins neighbours in each dimension", "[memory]") {
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{1}, {5}, {1, 7}, {2, 2}, {3, 4}, {4, 2, 3}, {2, 2, 2}, {1, 1, 5}, {3, 3, 3}}) {
        TopologySpec spec = spec_of(Shape::torus);
        spec.dimensions = sizes;
        std::int64_t hosts = 1;
        std::uint32_t cables_per_host_twice = 0;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            hosts *= sizes[d];
            cables_per_host_twice += sizes[d] == 1 ? 0 : sizes[d] == 2 ? 1 : 2;
            spec.bandwidth_Bps.push_back(static_cast<double>(d + 1));
        }
        CAPTURE(sizes);
        const Topology torus = make_topology(spec, fabric);
        CHECK(torus.hosts == static_cast<std::uint32_t>(hosts));
        CHECK(2 * torus.cables == torus.hosts * cables_per_host_twice);
        const auto at = [&](std::uint32_t host) {
            std::vector<std::int64_t> place;
            std::int64_t rest = host;
            for (const std::int64_t size : sizes) {
                place.push_back(rest % size);
                rest /= size;
            }
            return place;
        };
        check_pairs(torus, [&](std::uint32_t a, std::uint32_t b) {
            const auto from = at(a), to = at(b);
            int differing = 0, next_to_each_other = 0;
            for (std::size_t d = 0; d < sizes.size(); ++d) {
                if (from[d] == to[d]) continue;
                ++differing;
                next_to_each_other += (from[d] + 1) % sizes[d] == to[d] || (to[d] + 1) % sizes[d] == from[d];
            }
            return differing == 1 && next_to_each_other == 1;
        });
        for (auto [edge, end] = boost::edges(torus.graph); edge != end; ++edge) {
            const auto from = at(static_cast<std::uint32_t>(boost::source(*edge, torus.graph)));
            const auto to = at(static_cast<std::uint32_t>(boost::target(*edge, torus.graph)));
            const auto dimension = std::mismatch(from.begin(), from.end(), to.begin()).first - from.begin();
            CHECK(torus.graph[*edge].wire.bandwidth_Bps == static_cast<double>(dimension + 1));
        }
    }
}

TEST_CASE("shapes: a torus without dimensions is as square as its hosts allow", "[memory]") {
    for (const auto& [hosts, cables] : std::vector<std::pair<std::int64_t, std::uint32_t>>{
             {12, 24}, {7, 7}, {16, 32}, {1, 0}, {2, 1}, {6, 9}, {36, 72}}) {  // 3x4, 1x7, 4x4, 1x1, 1x2, 2x3, 6x6
        CAPTURE(hosts);
        CHECK(make_topology(spec_of(Shape::torus), overlay, hosts).cables == cables);
    }
    TopologySpec spec = spec_of(Shape::torus);
    spec.dimensions = {4, 4};
    CHECK(make_topology(spec, fabric, 10).hosts == 16);
    check_refused(spec, overlay, 10, "hosts");
    check_refused(spec, fabric, 20, "hosts");
    spec.hosts = 12;
    check_refused(spec, fabric, 0, "hosts");
    spec.hosts = 0;
    spec.dimensions = {2, 2, 2, 2};
    check_refused(spec, fabric, 0, "dimensions");
    spec.dimensions = {4, 0};
    check_refused(spec, fabric, 0, "dimensions");
}

TEST_CASE("shapes: a star has a switch in its centre, or rank 0", "[memory]") {
    for (std::uint32_t n = 1; n <= 20; ++n) {
        CAPTURE(n);
        const Topology with_switch = make_topology(spec_of(Shape::star), fabric, n);
        check_sound(with_switch);
        CHECK(with_switch.hosts == n);
        CHECK(with_switch.cables == n);
        CHECK(degree(with_switch, vertex_named(with_switch, "switch-0")) == n);

        check_pairs(make_topology(spec_of(Shape::star), overlay, n), [](auto a, auto b) { return a == 0 || b == 0; });
    }
}

TEST_CASE("shapes: a tree of ranks is a heap", "[memory]") {
    for (std::uint32_t arity = 1; arity <= 5; ++arity) {
        for (std::uint32_t n = 1; n <= 40; ++n) {
            TopologySpec spec = spec_of(Shape::tree);
            spec.arity = arity;
            check_pairs(make_topology(spec, overlay, n), [arity](auto a, auto b) {
                const auto [parent, child] = std::minmax(a, b);
                return arity * parent < child && child <= arity * (parent + 1);
            });
        }
    }
    TopologySpec spec = spec_of(Shape::tree);
    spec.depth = 2;
    check_refused(spec, overlay, 4, "depth");
}

TEST_CASE("shapes: a tree of switches has the minimum depth with enough hosts, and no empty switches", "[memory]") {
    for (std::int64_t arity = 2; arity <= 5; ++arity) {
        for (std::int64_t n = 1; n <= 70; ++n) {
            CAPTURE(arity, n);
            TopologySpec spec = spec_of(Shape::tree);
            spec.arity = arity;
            std::int64_t depth = 1, room = arity;
            for (; room < n; room *= arity) ++depth;
            for (spec.depth = 0; spec.depth <= depth + 1; spec.depth += depth + 1) {
                const std::int64_t levels = spec.depth == 0 ? depth : spec.depth;
                std::uint32_t expected = 0;
                for (std::int64_t level = 1, below = arity; level <= levels; ++level, below *= arity)
                    expected += static_cast<std::uint32_t>((n + below - 1) / below);
                const Topology tree = make_topology(spec, fabric, n);
                check_sound(tree);
                CHECK(tree.hosts == n);
                CHECK(switches(tree) == expected);
                CHECK(tree.cables == tree.vertices() - 1);
                for (std::uint32_t vertex = 0; vertex < tree.vertices(); ++vertex) {
                    const bool root = tree.graph[vertex].level == levels;
                    CHECK(degree(tree, vertex) <= static_cast<std::size_t>(arity) + (root ? 0 : 1));
                }
            }
        }
    }
    TopologySpec spec = spec_of(Shape::tree);
    spec.depth = 2;
    spec.bandwidth_Bps = {10, 40};
    const Topology tree = make_topology(spec, fabric, 3);
    CHECK(neighbours(tree, "switch-1-0") == Neighbours{"host-0", "host-1", "switch-2-0"});
    CHECK(neighbours(tree, "switch-1-1") == Neighbours{"host-2", "switch-2-0"});
    CHECK(cables_by_bandwidth(tree) == std::map<double, std::uint32_t>{{10, 3}, {40, 2}});
    CHECK(make_topology(spec, fabric).hosts == 4);
    check_refused(spec, fabric, 5, "hosts");
    spec.bandwidth_Bps = {10, 40, 40};
    check_refused(spec, fabric, 3, "bandwidth");
    spec = spec_of(Shape::tree);
    spec.arity = 1;
    check_refused(spec, fabric, 2, "arity");
    CHECK(switches(make_topology(spec, fabric, 1)) == 1);
    spec.depth = 3;
    CHECK(switches(make_topology(spec, fabric, 1)) == 3);
}

TEST_CASE("shapes: a hierarchy joins the groups' representatives", "[memory]") {
    TopologySpec spec = spec_of(Shape::hierarchical);
    spec.levels = {{Shape::star, 4}, {Shape::ring, 0}};
    spec.bandwidth_Bps = {10, 40};
    const Topology ring_of_stars = make_topology(spec, fabric, 12);
    check_sound(ring_of_stars);
    CHECK(switches(ring_of_stars) == 3);
    CHECK(neighbours(ring_of_stars, "switch-1-1") ==
          Neighbours{"host-4", "host-5", "host-6", "host-7", "switch-1-0", "switch-1-2"});
    CHECK(cables_by_bandwidth(ring_of_stars) == std::map<double, std::uint32_t>{{10, 12}, {40, 3}});

    const Topology of_ranks = make_topology(spec, overlay, 12);
    check_sound(of_ranks);
    CHECK(switches(of_ranks) == 0);
    CHECK(neighbours(of_ranks, "rank-4") == Neighbours{"rank-0", "rank-5", "rank-6", "rank-7", "rank-8"});
    CHECK(of_ranks.cables == 3 * 3 + 3);

    // Ten hosts: the last group has two.
    const Topology incomplete = make_topology(spec, fabric, 10);
    CHECK(incomplete.hosts == 10);
    CHECK(neighbours(incomplete, "switch-1-2") == Neighbours{"host-8", "host-9", "switch-1-0", "switch-1-1"});

    // A full mesh of four, member 0 of which is in a ring: 8 meshes of 6 cables.
    spec.levels = {{Shape::full_mesh, 4}, {Shape::ring, 8}};
    const Topology meshes = make_topology(spec, fabric);
    CHECK(meshes.hosts == 32);
    CHECK(switches(meshes) == 0);
    CHECK(cables_by_bandwidth(meshes) == std::map<double, std::uint32_t>{{10, 48}, {40, 8}});
    CHECK(make_topology(spec, fabric, 20).hosts == 32);
    check_refused(spec, fabric, 33, "hosts");
    check_refused(spec, overlay, 20, "hosts");

    // Three levels: racks of 2 on a switch, pods of 3 racks in a full mesh, 2 pods on a switch.
    spec.levels = {{Shape::star, 2}, {Shape::full_mesh, 3}, {Shape::star, 2}};
    const Topology three = make_topology(spec, fabric);
    CHECK(three.hosts == 12);
    CHECK(switches(three) == 6 + 1);
    CHECK(neighbours(three, "switch-3-0") == Neighbours{"switch-1-0", "switch-1-3"});
    CHECK(three.cables == 12 + 2 * 3 + 2);

    spec.levels = {};
    check_refused(spec, fabric, 4, "levels");
    spec.levels = {{Shape::star, 0}, {Shape::star, 0}};
    check_refused(spec, fabric, 4, "levels");
    spec.levels = {{Shape::torus, 0}};
    check_refused(spec, fabric, 4, "levels");
    spec.levels = {{Shape::hypercube, 3}, {Shape::star, 0}};
    check_refused(spec, fabric, 6, "levels");
    spec.levels = {{Shape::star, -1}};
    check_refused(spec, fabric, 6, "levels");
}

TEST_CASE("shapes: hierarchies have the cables of their groups", "[memory]") {
    for (std::int64_t size = 1; size <= 6; ++size) {
        for (std::int64_t n = 1; n <= 40; ++n) {
            CAPTURE(size, n);
            TopologySpec spec = spec_of(Shape::hierarchical);
            spec.levels = {{Shape::full_mesh, size}, {Shape::star, 0}};
            const std::int64_t whole = n / size, rest = n % size, groups = whole + (rest == 0 ? 0 : 1);
            const std::int64_t within = whole * (size * (size - 1) / 2) + rest * (rest - 1) / 2;
            CHECK(make_topology(spec, overlay, n).cables == within + groups - 1);
            const Topology with_switch = make_topology(spec, fabric, n);
            check_sound(with_switch);
            CHECK(with_switch.cables == within + groups);
            CHECK(switches(with_switch) == 1);
        }
    }
}
