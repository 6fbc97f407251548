#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>

#include "sim/topology/cut.hpp"
#include "sim/topology/measures.hpp"
#include "sim/topology/metrics.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

constexpr double pi = std::numbers::pi;

Topology of_hosts(std::uint32_t hosts) {
    Topology topology;
    for (std::uint32_t i = 0; i < hosts; ++i) topology.add_host("host-" + std::to_string(i));
    return topology;
}

TopologySpec of_shape(Shape shape) {
    TopologySpec spec;
    spec.shape = shape;
    return spec;
}

const TopologySpec unknown = of_shape(Shape::graph);
const Wire fast{100, 0}, slow{10, 0};

/// Connects the pairs for which `joined` is true.
template <typename Joined>
Topology graph_of(std::uint32_t hosts, Joined joined) {
    Topology topology = of_hosts(hosts);
    for (std::uint32_t a = 0; a < hosts; ++a)
        for (std::uint32_t b = a + 1; b < hosts; ++b)
            if (joined(a, b)) topology.add_cable(a, b, fast);
    return topology;
}

Topology ring_of(std::uint32_t hosts) {
    return graph_of(hosts, [=](std::uint32_t a, std::uint32_t b) { return b == a + 1 || b - a == hosts - 1; });
}

Topology full_mesh_of(std::uint32_t hosts) {
    return graph_of(hosts, [](std::uint32_t, std::uint32_t) { return true; });
}

Topology hypercube_of(std::uint32_t dimension) {
    return graph_of(1U << dimension, [](std::uint32_t a, std::uint32_t b) { return std::has_single_bit(a ^ b); });
}

/// Returns a torus of two dimensions, of which the first counts fastest; a dimension of 2 has one cable per pair.
Topology torus_of(std::uint32_t first, std::uint32_t second) {
    const auto next = [](std::uint32_t a, std::uint32_t b, std::uint32_t size) {
        return (a + 1) % size == b || (b + 1) % size == a;
    };
    return graph_of(first * second, [=](std::uint32_t a, std::uint32_t b) {
        return (a / first == b / first && next(a % first, b % first, first)) ||
               (a % first == b % first && next(a / first, b / first, second));
    });
}

TopologySpec torus_spec(std::int64_t first, std::int64_t second) {
    TopologySpec spec = of_shape(Shape::torus);
    spec.dimensions = {first, second};
    return spec;
}

/// Returns, by definition, the minimum number of arcs from one half to the other, for hosts that are connected
/// directly.
double least_over_halves(const Topology& topology) {
    const std::uint32_t hosts = topology.hosts;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t half = 0; half < 1U << hosts; ++half) {
        const auto size = static_cast<std::uint32_t>(std::popcount(half));
        if (size != hosts / 2 && size != hosts - hosts / 2) continue;
        double cut = 0;
        for (auto [edge, end] = boost::edges(topology.graph); edge != end; ++edge)
            cut += (half >> boost::source(*edge, topology.graph) & ~(half >> boost::target(*edge, topology.graph)) & 1);
        least = std::min(least, cut);
    }
    return least;
}

}  // namespace

TEST_CASE("metrics of one host and of two are defined", "[memory]") {
    const Metrics one = measure_topology(unknown, of_hosts(1));
    CHECK(one.hosts == 1);
    CHECK(one.cables == 0);
    CHECK(one.diameter == 0);
    CHECK(one.average_distance == 0);
    CHECK(one.bisection_cables == 0);
    CHECK_FALSE(one.bisection_Bps);
    CHECK(one.edge_connectivity == 0);
    CHECK(one.spectral_gap.value() == 1);
    CHECK_THROWS_AS(measure_topology(unknown, Topology{}), std::logic_error);

    for (const Shape shape : {Shape::graph, Shape::ring, Shape::hypercube, Shape::full_mesh, Shape::exponential}) {
        const Metrics two = measure_topology(of_shape(shape), ring_of(2));
        CHECK(two.ports == 2);
        CHECK(two.most_degree == 1);
        CHECK(two.diameter == 1);
        CHECK(two.average_distance == 1);
        CHECK(two.bisection_cables == 1);
        CHECK(two.bisection_Bps.value() == 100);
        CHECK(two.bisection_exact);
        CHECK(two.edge_connectivity == 1);
        CHECK(two.spectral_gap.value() == Approx(1));  // both have the mean after one exchange
    }
}

TEST_CASE("distances in trees are those of searches from every host", "[memory]") {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        Topology tree;
        const auto hosts = static_cast<std::uint32_t>(2 + random() % 12),
                   switches = static_cast<std::uint32_t>(random() % 8);
        for (std::uint32_t host = 0; host < hosts; ++host) tree.add_host(std::to_string(host));
        for (std::uint32_t one = 0; one < switches; ++one) tree.add_switch("s" + std::to_string(one), 1);
        std::vector<std::uint32_t> order(tree.vertices());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        std::vector<std::vector<std::uint32_t>> hops(order.size(), std::vector<std::uint32_t>(order.size(), 0));
        for (std::size_t i = 1; i < order.size(); ++i) {
            const std::uint32_t parent = order[random() % i];
            tree.add_cable(order[i], parent, fast);
            for (std::size_t j = 0; j < i; ++j)
                hops[order[i]][order[j]] = hops[order[j]][order[i]] = hops[parent][order[j]] + 1;
        }
        std::uint32_t farthest = 0, sum = 0;
        for (std::uint32_t a = 0; a < hosts; ++a)
            for (std::uint32_t b = 0; b < hosts; ++b) {
                farthest = std::max(farthest, hops[a][b]);
                sum += hops[a][b];
            }
        const Metrics metrics = measure_topology(unknown, tree);
        CHECK(metrics.diameter == farthest);
        CHECK(metrics.average_distance == Approx(sum / (hosts * (hosts - 1.0))));
        CHECK(metrics.distances_exact);
        CHECK(metrics.edge_connectivity == 1);
    }
}

TEST_CASE("graphs whose least degree is two are separated by a bridge, or by two cables", "[memory]") {
    // Rings whose neighbours share one vertex (no bridge), one cable, or two.
    const auto rings = [](std::uint32_t cables) {
        Topology topology;
        for (std::uint32_t host = 0; host < 8; ++host) topology.add_host(std::to_string(host));
        for (std::uint32_t host = 0; host < 4; ++host) {
            topology.add_cable(host, (host + 1) % 4, fast);
            topology.add_cable(4 + host, 4 + (host + 1) % 4, fast);
        }
        for (std::uint32_t cable = 0; cable < cables; ++cable) topology.add_cable(0, 4, fast);
        return measure_topology(unknown, topology).edge_connectivity;
    };
    CHECK(rings(1) == 1);
    CHECK(rings(2) == 2);
    // A bridge to a switch without hosts separates none.
    Topology ring = ring_of(4);
    ring.add_cable(0, ring.add_switch("s", 1), fast);
    CHECK(measure_topology(unknown, ring).edge_connectivity == 2);
}

TEST_CASE("graphs of a hundred thousand hosts are measured, or what is not exact says so") {
    constexpr std::uint32_t n = 100'000;
    Topology chain;
    for (std::uint32_t host = 0; host < n; ++host) chain.add_host(std::to_string(host));
    for (std::uint32_t host = 1; host < n; ++host) chain.add_cable(host - 1, host, fast);
    const Metrics open = measure_topology(of_shape(Shape::graph), chain);
    CHECK(open.diameter == n - 1);
    CHECK(open.average_distance == Approx((n + 1) / 3.0));
    CHECK(open.distances_exact);
    CHECK(open.edge_connectivity == 1);
    CHECK(open.bisection_cables >= 1);
    CHECK_FALSE(open.spectral_gap);

    chain.add_cable(n - 1, 0, fast);
    const Metrics closed = measure_topology(of_shape(Shape::graph), chain);
    CHECK_FALSE(closed.distances_exact);
    CHECK(closed.diameter == n / 2);  // of every host
    CHECK(closed.average_distance == Approx(n / 4.0 * n / (n - 1)));
    CHECK(closed.edge_connectivity == 2);
}

TEST_CASE("a ring's metrics equal the formulas, with the shape known and without", "[memory]") {
    for (std::uint32_t n = 3; n <= 24; ++n) {
        for (const Shape shape : {Shape::ring, Shape::graph}) {
            const Metrics ring = measure_topology(of_shape(shape), ring_of(n));
            CHECK(ring.cables == n);
            CHECK(ring.least_degree == 2);
            CHECK(ring.most_degree == 2);
            CHECK(ring.diameter == n / 2);
            // Distances 1 … n/2 in both directions; there is only one host half way round.
            CHECK(ring.average_distance == Approx(n % 2 == 1 ? (n + 1) / 4.0 : n * n / 4.0 / (n - 1)));
            CHECK(ring.bisection_cables == 2);
            CHECK(ring.bisection_exact == (shape == Shape::ring || n <= 16));
            CHECK(ring.edge_connectivity == 2);
            CHECK(ring.spectral_gap.value() == Approx(1 - std::abs(1 + 2 * std::cos(2 * pi / n)) / 3).margin(1e-8));
        }
    }
}

TEST_CASE("a full mesh's metrics equal the formulas, with the shape known and without", "[memory]") {
    for (std::uint32_t n = 3; n <= 18; ++n) {
        for (const Shape shape : {Shape::full_mesh, Shape::graph}) {
            if (shape == Shape::graph && n > 10 && n < 17) continue;  // all halves: slow in a debug build
            const Metrics mesh = measure_topology(of_shape(shape), full_mesh_of(n));
            CHECK(mesh.cables == n * (n - 1) / 2);
            CHECK(mesh.most_degree == n - 1);
            CHECK(mesh.diameter == 1);
            CHECK(mesh.average_distance == 1);
            CHECK(mesh.bisection_cables == (n / 2) * (n - n / 2));
            CHECK(mesh.edge_connectivity == n - 1);
            CHECK(mesh.spectral_gap.value() == Approx(1));
        }
    }
}

TEST_CASE("a hypercube's metrics equal the formulas, with the shape known and without", "[memory]") {
    for (std::uint32_t d = 1; d <= 6; ++d) {
        const double n = 1U << d;
        for (const Shape shape : {Shape::hypercube, Shape::graph}) {
            if (shape == Shape::graph && d == 4) continue;
            const Metrics cube = measure_topology(of_shape(shape), hypercube_of(d));
            CHECK(cube.least_degree == d);
            CHECK(cube.most_degree == d);
            CHECK(cube.diameter == d);
            CHECK(cube.average_distance == Approx(d * (n / 2) / (n - 1)));
            CHECK(cube.bisection_cables == n / 2);  // also what the search finds
            CHECK(cube.edge_connectivity == d);
            CHECK(cube.spectral_gap.value() == Approx(d == 1 ? 1 : 2.0 / (d + 1)).margin(1e-8));
        }
    }
}

TEST_CASE("a torus' bisection is the minimum over all halves", "[memory]") {
    for (const auto& [first, second] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
             {3, 3}, {3, 4}, {4, 3}, {2, 3}, {3, 2}, {2, 5}, {2, 2}, {4, 2}, {2, 6}, {1, 5}, {6, 1}, {5, 3}}) {
        const Topology torus = torus_of(first, second);
        const Metrics metrics = measure_topology(torus_spec(first, second), torus);
        CAPTURE(first, second, metrics.bisection_basis);
        CHECK(metrics.bisection_exact);
        CHECK(metrics.bisection_cables == least_over_halves(torus));
    }
}

TEST_CASE("a torus' other metrics are sums over its dimensions", "[memory]") {
    const auto ring_mean = [](std::uint32_t k) { return k % 2 == 0 ? k / 4.0 : (k * k - 1) / (4.0 * k); };
    for (std::uint32_t first = 3; first <= 6; ++first) {
        for (std::uint32_t second = 3; second <= 7; ++second) {
            const double n = first * second;
            for (const TopologySpec& spec : {torus_spec(first, second), unknown}) {
                if (n <= 16 && spec.shape == Shape::graph) continue;
                const Metrics torus = measure_topology(spec, torus_of(first, second));
                CAPTURE(first, second, torus.bisection_basis);
                CHECK(torus.most_degree == 4);
                CHECK(torus.diameter == first / 2 + second / 2);
                CHECK(torus.average_distance == Approx((ring_mean(first) + ring_mean(second)) * n / (n - 1)));
                CHECK(torus.edge_connectivity == 4);
                const std::uint32_t longest = std::max(first, second), shortest = std::min(first, second);
                // The search is as good as the proof here.
                CHECK(torus.bisection_cables == 2 * (longest % 2 == 0 ? shortest : shortest + 1));
                double second_eigenvalue = 0;
                for (std::uint32_t i = 0; i < first; ++i)
                    for (std::uint32_t j = i == 0 ? 1 : 0; j < second; ++j)
                        second_eigenvalue = std::max(
                            second_eigenvalue,
                            std::abs(1 + 2 * std::cos(2 * pi * i / first) + 2 * std::cos(2 * pi * j / second)) / 5);
                CHECK(torus.spectral_gap.value() == Approx(1 - second_eigenvalue).margin(1e-8));
            }
        }
    }
}

TEST_CASE("a star of hosts on a switch and a star of ranks have the expected metrics", "[memory]") {
    for (std::uint32_t n = 2; n <= 20; ++n) {
        Topology star = of_hosts(n);
        const std::uint32_t hub = star.add_switch("switch", 1);
        for (std::uint32_t i = 0; i < n; ++i) star.add_cable(i, hub, fast);
        const Metrics fabric = measure_topology(unknown, star);
        CHECK(fabric.switch_ports == n);
        CHECK(fabric.diameter == 2);
        CHECK(fabric.average_distance == 2);
        CHECK(fabric.bisection_cables == n / 2);
        CHECK(fabric.bisection_exact);
        CHECK(fabric.edge_connectivity == 1);
        CHECK_FALSE(fabric.spectral_gap);

        const Metrics overlay =
            measure_topology(unknown, graph_of(n, [](std::uint32_t a, std::uint32_t) { return a == 0; }));
        CHECK(overlay.switch_ports == 0);
        CHECK(overlay.least_degree == 1);
        CHECK(overlay.most_degree == n - 1);
        CHECK(overlay.average_distance == Approx(2.0 * (n - 1) / n));
        CHECK(overlay.bisection_cables == n / 2);
        // Leaves keep 1 - 1/n of their difference.
        CHECK(overlay.spectral_gap.value() == Approx(n == 2 ? 1 : 1.0 / n).margin(1e-8));
    }
}

TEST_CASE("the minimum cut in cables need not be the one of minimum bandwidth", "[memory]") {
    // Two pairs. Within a pair two slow cables, between the pairs three fast ones.
    Topology square = of_hosts(4);
    for (const std::uint32_t host : {0U, 2U})
        for (int twice = 0; twice < 2; ++twice) square.add_cable(host, host + 1, slow);
    for (int thrice = 0; thrice < 3; ++thrice) square.add_cable(0, 2, fast);
    const Metrics metrics = measure_topology(unknown, square);
    CHECK(metrics.bisection_cables == 3);        // {0, 1} and {2, 3}
    CHECK(metrics.bisection_Bps.value() == 40);  // {0, 2} and {1, 3}
    CHECK(metrics.bisection_exact);
    CHECK(metrics.diameter == 3);
    CHECK(metrics.edge_connectivity == 2);
    CHECK(metrics.least_degree == 2);
    CHECK(metrics.most_degree == 5);
}

TEST_CASE("cables without bandwidth have none between the halves", "[memory]") {
    Topology pair = of_hosts(2);
    pair.add_cable(0, 1, {});
    CHECK_FALSE(measure_topology(unknown, pair).bisection_Bps);
}

TEST_CASE("a ring of one-way connections has the formulas' metrics", "[memory]") {
    for (std::uint32_t n = 2; n <= 12; ++n) {
        Topology ring = of_hosts(n);
        for (std::uint32_t i = 0; i < n; ++i) ring.add_one_way(i, (i + 1) % n, {});
        const Metrics metrics = measure_topology(unknown, ring);
        CHECK(metrics.cables == n);
        CHECK(metrics.ports == 2 * n);
        CHECK(metrics.most_degree == 1);
        CHECK(metrics.diameter == n - 1);
        CHECK(metrics.average_distance == Approx(n / 2.0));
        CHECK(metrics.bisection_cables == 1);
        CHECK(metrics.edge_connectivity == 1);
        // (1 + ω)/2 for a root of unity ω has the modulus cos(π/n).
        CHECK(metrics.spectral_gap.value() == Approx(1 - std::cos(pi / n)));
    }
}

TEST_CASE("the directed exponential graph mixes as B. Ying et al. prove", "[memory]") {
    for (std::uint32_t n = 2; n <= 40; ++n) {
        const auto reach = static_cast<std::uint32_t>(std::bit_width(n - 1));  // ⌈log2 n⌉
        Topology graph = of_hosts(n);
        for (std::uint32_t i = 0; i < n; ++i)
            for (std::uint32_t k = 0; k < reach; ++k) graph.add_one_way(i, (i + (1U << k)) % n, {});
        TopologySpec spec = of_shape(Shape::exponential);
        spec.directed = true;
        const Metrics known = measure_topology(spec, graph);
        CHECK(known.most_degree == reach);
        CHECK(known.edge_connectivity == reach);
        // NeurIPS 2021, proposition 1: ρ = (τ-1)/(τ+1) for even n, less for odd n, with τ = ⌈log2 n⌉.
        const double proved = 2.0 / (reach + 1);
        if (n % 2 == 0)
            CHECK(known.spectral_gap.value() == Approx(proved));
        else
            CHECK(known.spectral_gap.value() > proved);
        // As many steps as the number of hosts ahead has bits set, unless the other direction is shorter.
        const auto most_bits = static_cast<std::uint32_t>(std::bit_width(n) - 1);
        CHECK(known.diameter <= most_bits);
        if (std::has_single_bit(n)) CHECK(known.diameter == most_bits);

        if (n > 14 && n < 17) continue;
        const Metrics found = measure_topology(unknown, graph);
        CHECK(found.average_distance == Approx(known.average_distance));
        CHECK(found.diameter == known.diameter);
        CHECK(found.edge_connectivity == known.edge_connectivity);
        CHECK(found.spectral_gap.value() == Approx(known.spectral_gap.value()).margin(1e-8));
    }
}

TEST_CASE("the spectral gap of many hosts is exact where eigenvalues coincide or crowd") {
    for (const std::uint32_t n : {520U, 600U}) {
        Topology mesh = of_hosts(n);
        for (std::uint32_t i = 0; i < n; ++i)
            for (std::uint32_t k = 0; k < i; ++k) mesh.add_cable(i, k, fast);
        CHECK(spectral_gap(Network(mesh, Weight::cables), {}).value() == Approx(1).margin(1e-9).epsilon(0));
    }
    const std::uint32_t n = 2000;
    Topology ring = of_hosts(n);
    for (std::uint32_t i = 0; i < n; ++i) ring.add_cable(i, (i + 1) % n, fast);
    const double gap = (2 - 2 * std::cos(2 * pi / n)) / 3;
    CHECK(spectral_gap(Network(ring, Weight::cables), {}).value() == Approx(gap).margin(1e-9).epsilon(0));
}

TEST_CASE("the bisection of a long ring and of a grid in mixed order is minimum") {
    const auto mixed = [](std::uint32_t i, std::uint32_t n) {
        return static_cast<std::uint32_t>(std::uint64_t{i} * 1237 % n);
    };
    const std::uint32_t n = 5000, side = 60;
    Topology ring = of_hosts(n);
    for (std::uint32_t i = 0; i < n; ++i) ring.add_cable(mixed(i, n), mixed((i + 1) % n, n), fast);
    CHECK(least_of_some_halves(Network(ring, Weight::cables)) == 2);
    Topology grid = of_hosts(side * side);
    for (std::uint32_t i = 0; i < side * side; ++i) {
        if (i % side != side - 1) grid.add_cable(mixed(i, side * side), mixed(i + 1, side * side), fast);
        if (i / side != side - 1) grid.add_cable(mixed(i, side * side), mixed(i + side, side * side), fast);
    }
    CHECK(least_of_some_halves(Network(grid, Weight::cables)) == side);
}

TEST_CASE("a long path mixes slowly", "[memory]") {
    // I - W is a third of the path's Laplacian: its smallest nonzero eigenvalue is (2 - 2cos(π/n))/3.
    for (const std::uint32_t n : {3U, 100U, 600U}) {
        Topology path = of_hosts(n);
        for (std::uint32_t i = 1; i < n; ++i) path.add_cable(i - 1, i, fast);
        const Metrics metrics = measure_topology(unknown, path);
        CHECK(metrics.spectral_gap.value() == Approx((2 - 2 * std::cos(pi / n)) / 3).epsilon(1e-6));
        CHECK(metrics.bisection_cables == 1);
        CHECK(metrics.bisection_exact);
    }
}

TEST_CASE("switches without a host that are cut off do not count", "[memory]") {
    // Two hosts with three cables each to either of two switches; a third switch has one cable.
    Topology fabric = of_hosts(2);
    const std::uint32_t a = fabric.add_switch("a", 1), b = fabric.add_switch("b", 1), c = fabric.add_switch("c", 2);
    for (const std::uint32_t host : {0U, 1U})
        for (const std::uint32_t one : {a, b})
            for (int i = 0; i < 3; ++i) fabric.add_cable(host, one, fast);
    fabric.add_cable(a, c, fast);
    const Metrics metrics = measure_topology(unknown, fabric);
    CHECK(metrics.edge_connectivity == 6);
    CHECK(metrics.bisection_cables == 6);
    CHECK(metrics.bisection_Bps.value() == 600);
    CHECK(metrics.switch_ports == 7);
    CHECK(metrics.diameter == 2);
}

TEST_CASE("a host that cannot reach another is a bug", "[memory]") {
    CHECK_THROWS_AS(measure_topology(unknown, of_hosts(2)), std::logic_error);
}

namespace {

Metrics metrics_of(const TopologySpec& spec, Use use, std::int64_t hosts = 0) {
    return measure_topology(spec, make_topology(spec, use, hosts));
}

/// Computes metrics as if the shape were unknown: by search rather than by formula.
Metrics found_in(const TopologySpec& spec, Use use, std::int64_t hosts = 0) {
    return measure_topology(unknown, make_topology(spec, use, hosts));
}

TopologySpec fat_tree_spec(std::vector<std::int64_t> down, std::vector<std::int64_t> up,
                           std::vector<std::int64_t> cables = {}) {
    TopologySpec spec = of_shape(Shape::fat_tree);
    spec.down = std::move(down);
    spec.up = std::move(up);
    spec.cables = std::move(cables);
    return spec;
}

}  // namespace

TEST_CASE("the metrics of shapes do not depend on whether the shape is known", "[memory]") {
    for (const Shape shape : {Shape::ring, Shape::exponential, Shape::torus, Shape::hypercube, Shape::full_mesh}) {
        for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 8, 9, 18, 20, 21, 25, 27, 30, 32, 36}) {
            if (shape == Shape::hypercube && !std::has_single_bit(static_cast<std::uint64_t>(n))) continue;
            const Metrics known = metrics_of(of_shape(shape), Use::overlay, n);
            const Metrics found = found_in(of_shape(shape), Use::overlay, n);
            CAPTURE(shape_name(shape), n, known.bisection_basis);
            CHECK(known.diameter == found.diameter);
            CHECK(known.average_distance == Approx(found.average_distance));
            CHECK(known.edge_connectivity == found.edge_connectivity);
            CHECK(known.bisection_cables == found.bisection_cables);
            CHECK(known.spectral_gap.value() == Approx(found.spectral_gap.value()).margin(1e-8));
        }
    }
    TopologySpec torus = of_shape(Shape::torus);
    for (const auto& dimensions :
         std::vector<std::vector<std::int64_t>>{{7}, {2, 2, 2}, {4, 3, 2}, {3, 3, 3}, {5, 4, 2}}) {
        torus.dimensions = dimensions;
        const Metrics known = metrics_of(torus, Use::overlay), found = found_in(torus, Use::overlay);
        CAPTURE(dimensions.size(), known.hosts, known.bisection_basis);
        CHECK(known.average_distance == Approx(found.average_distance));
        CHECK(known.edge_connectivity == found.edge_connectivity);
        CHECK(known.bisection_cables == found.bisection_cables);
        CHECK(known.spectral_gap.value() == Approx(found.spectral_gap.value()).margin(1e-8));
    }
}

TEST_CASE("an exponential graph of a power of two has the expected metrics", "[memory]") {
    for (std::uint32_t m = 2; m <= 8; ++m) {
        const Metrics graph = metrics_of(of_shape(Shape::exponential), Use::overlay, 1 << m);
        CHECK(graph.most_degree == 2 * m - 1);  // half way round both directions are the same
        CHECK(graph.edge_connectivity == 2 * m - 1);
        // Numbers with signed binary digits need at most one nonzero digit per two places (G. Reitwiesner 1960).
        CHECK(graph.diameter == (m + 1) / 2);
        // A vector that alternates from host to host changes its sign along the two shortest connections out of 2m.
        CHECK(graph.spectral_gap.value() == Approx(2.0 / m));
    }
}

TEST_CASE("a k-ary fat tree has full bisection and a diameter of 6", "[memory]") {
    for (std::int64_t k = 2; k <= 8; k += 2) {
        TopologySpec spec = of_shape(Shape::fat_tree);
        spec.ports = k;
        spec.bandwidth_Bps = {10};
        const Metrics tree = metrics_of(spec, Use::fabric);
        const double n = static_cast<double>(k * k * k) / 4, half = static_cast<double>(k) / 2;
        CHECK(tree.hosts == n);
        CHECK(tree.switches == 5 * k * k / 4);
        CHECK(tree.switch_ports == k);
        CHECK(static_cast<double>(tree.cables) == 3 * n);
        CHECK(tree.diameter == 6);
        CHECK(tree.average_distance ==
              Approx((2 * (half - 1) + 4 * (half * half - half) + 6 * (n - half * half)) / (n - 1)));
        CHECK(tree.bisection_cables == std::floor(n / 2));
        CHECK(tree.bisection_Bps.value() == 10 * std::floor(n / 2));
        CHECK(tree.bisection_exact);
        CHECK(tree.edge_connectivity == 1);
        CHECK_FALSE(tree.spectral_gap);
    }
}

TEST_CASE("the formula for fat trees equals the minimum over all halves", "[memory]") {
    for (const TopologySpec& spec :
         {fat_tree_spec({3}, {1}), fat_tree_spec({3, 3}, {1, 3}), fat_tree_spec({2, 4}, {1, 2}),
          fat_tree_spec({4, 2}, {1, 1}), fat_tree_spec({4, 2}, {1, 2}), fat_tree_spec({5, 2}, {1, 3}),
          fat_tree_spec({2, 4}, {2, 2}), fat_tree_spec({2, 2, 2}, {1, 2, 1}), fat_tree_spec({3, 2}, {1, 1}, {1, 2}),
          fat_tree_spec({4, 2}, {2, 1}, {2, 3}), fat_tree_spec({2, 2, 2}, {2, 1, 2}, {1, 3, 1})}) {
        const Metrics known = metrics_of(spec, Use::fabric), found = found_in(spec, Use::fabric);
        CAPTURE(known.hosts, known.switches, known.bisection_basis);
        CHECK(known.bisection_exact);
        CHECK(found.bisection_exact);
        CHECK(known.bisection_cables == found.bisection_cables);
    }
}

TEST_CASE("a fat tree may have levels of other bandwidths", "[memory]") {
    TopologySpec spec = fat_tree_spec({4, 4}, {1, 2});
    spec.bandwidth_Bps = {100, 100};
    CHECK(metrics_of(spec, Use::fabric).bisection_Bps.value() == 400);  // 4 leaves with 2 cables up, half of that
    spec.bandwidth_Bps = {100, 400};
    const Metrics faster_above = metrics_of(spec, Use::fabric);
    CHECK(faster_above.bisection_cables == 4);
    CHECK(faster_above.bisection_Bps.value() == 800);  // half of the hosts
    CHECK(faster_above.bisection_exact);
}

TEST_CASE("a tree is bisected across its subtrees", "[memory]") {
    const auto tree = [](std::int64_t arity, std::int64_t depth) {
        TopologySpec spec = of_shape(Shape::tree);
        spec.arity = arity;
        spec.depth = depth;
        spec.bandwidth_Bps = {10, 20};
        return spec;
    };
    for (std::int64_t arity = 2; arity <= 6; arity += 2) {
        const double subtrees = static_cast<double>(arity) / 2;
        const Metrics even = metrics_of(tree(arity, 2), Use::fabric, arity * arity);
        CHECK(even.diameter == 4);
        CHECK(even.bisection_cables == subtrees);  // whole ones
        CHECK(even.bisection_Bps.value() == 20 * subtrees);
        CHECK(even.bisection_exact);
    }
    const Metrics odd = metrics_of(tree(3, 2), Use::fabric, 9);
    CHECK(odd.bisection_cables == 2);  // a subtree of 3 and one host of another
    CHECK(odd.bisection_Bps.value() == 30);
}

TEST_CASE("a balanced dragonfly's longest path is local, global, local", "[memory]") {
    for (std::int64_t p = 1; p <= 3; ++p) {
        TopologySpec spec = of_shape(Shape::dragonfly);
        spec.hosts_per_router = p;
        const Metrics dragonfly = metrics_of(spec, Use::fabric);
        CHECK(dragonfly.hosts == 2 * p * p * (2 * p * p + 1));
        CHECK(dragonfly.switch_ports == 4 * p - 1);
        CHECK(dragonfly.diameter == 5);
        CHECK(dragonfly.edge_connectivity == 1);
        CHECK(dragonfly.bisection_exact == (dragonfly.hosts <= 16));
        // Halves by number cut the middle group of 2p² + 1: p² cables within it, at most all 2p² of its global cables,
        // and those between p² groups and p² others.
        const auto square = static_cast<double>(p * p);
        CHECK(dragonfly.bisection_cables <= square + 2 * square + square * square);
    }
}

TEST_CASE("rails join their leaves at the spines", "[memory]") {
    TopologySpec spec = of_shape(Shape::rails);
    spec.rails = 4;
    spec.nodes_per_group = 4;
    spec.spines = 2;
    const Metrics rails = metrics_of(spec, Use::fabric, 32);  // 8 leaves with 4 ports down and 2 up
    CHECK(rails.diameter == 4);
    CHECK(rails.bisection_cables == 8);
    CHECK(rails.bisection_exact);
}

TEST_CASE("rails of their own have the metrics of one, and the bisection of all", "[memory]") {
    TopologySpec spec = of_shape(Shape::rails);
    spec.rails = 4;
    spec.nodes_per_group = 4;
    spec.rail_spines = 2;
    const Metrics rails = metrics_of(spec, Use::fabric, 32);  // each rail: 2 leaves with 4 ports down and 2 up
    CHECK(rails.hosts == 32);
    CHECK(rails.switches == 8 + 8);
    CHECK(rails.cables == 32 + 16);
    CHECK(rails.diameter == 4);
    CHECK(rails.bisection_cables == 4 * 2);
    CHECK(rails.bisection_exact);
}

TEST_CASE("hierarchies of rings and meshes have the expected metrics", "[memory]") {
    TopologySpec spec = of_shape(Shape::hierarchical);
    spec.levels = {{Shape::full_mesh, 5}, {Shape::ring, 6}};
    const Metrics metrics = metrics_of(spec, Use::overlay);
    CHECK(metrics.hosts == 30);
    CHECK(metrics.diameter == 5);
    CHECK(metrics.least_degree == 4);
    CHECK(metrics.most_degree == 6);
    CHECK(metrics.edge_connectivity == 2);
    CHECK(metrics.bisection_cables == 2);
    CHECK_FALSE(metrics.bisection_exact);
}
