#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/platform/wiring.hpp"
#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/fluid.hpp"
#include "tests/replay/messages.hpp"

// Compares random messages on random fabrics, all started together, with an independent fluid calculation: links are
// shared max-min fairly whatever the messages' latencies, and each message takes its own latency in addition.

using namespace syncline;

namespace {

Wire random_wire(Chance& chance) {
    return {chance.of<double>({0.1e9, 0.3e9, 0.5e9, 1e9, 1.7e9, 25e9}),
            chance.of<double>({0, 1e-6, 1e-6, 3.5e-6, 2e-5, 1e-3})};
}

/// Returns a connected graph of hosts and switches, every cable with its own bandwidth and latency.
TopologySpec random_graph(Chance& chance, std::uint32_t hosts) {
    TopologySpec spec;
    spec.shape = Shape::graph;
    const std::uint32_t switches = 1 + chance.below(6);
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < switches; ++i) {
        names.push_back(fmt::format("s{}", i));
        spec.switches.push_back(names.back());
        if (i > 0) spec.edges.push_back({names[i], names[chance.below(i)], random_wire(chance)});
    }
    for (std::uint32_t i = 0; i < hosts; ++i) {
        const std::string name = fmt::format("h{}", i);
        spec.edges.push_back({name, names[chance.below(names.size())], random_wire(chance)});
        names.push_back(name);
    }
    return spec;
}

TopologySpec random_fabric(Chance& chance, std::uint32_t hosts) {
    TopologySpec spec;
    spec.shape =
        chance.of<Shape>({Shape::star, Shape::ring, Shape::tree, Shape::exponential, Shape::torus, Shape::full_mesh,
                          Shape::fat_tree, Shape::dragonfly, Shape::hierarchical, Shape::graph, Shape::graph});
    if (spec.shape == Shape::graph) return random_graph(chance, hosts);
    if (spec.shape == Shape::hierarchical)
        spec.levels = {{chance.of<Shape>({Shape::star, Shape::ring}), 2 + chance.below(3)},
                       {chance.of<Shape>({Shape::star, Shape::ring, Shape::full_mesh}), 0}};
    const bool by_level =
        spec.shape == Shape::fat_tree || spec.shape == Shape::dragonfly || spec.shape == Shape::hierarchical;
    for (int level = 0; level < (by_level ? 2 : 1); ++level) {
        const Wire wire = random_wire(chance);
        spec.bandwidth_Bps.push_back(wire.bandwidth_Bps);
        spec.latency_s.push_back(wire.latency_s);
    }
    return spec;
}

/// Checks one case; routes are taken from the Wiring, which other tests check.
void check_case(Chance& chance) {
    const std::uint32_t ranks = 2 + chance.below(14);
    Cluster cluster;
    cluster.nodes = ranks;
    cluster.fabric.topology = random_fabric(chance, ranks);
    cluster.fabric.routing.policy = chance.below(2) == 0 ? Routing::Policy::ecmp : Routing::Policy::first;
    CAPTURE(ranks, shape_name(cluster.fabric.topology.shape));

    std::vector<Sent> list;
    for (std::uint32_t count = 1 + chance.below(3 * ranks); count > 0; --count) {
        const std::uint32_t from = chance.below(ranks), to = (from + 1 + chance.below(ranks - 1)) % ranks;
        const std::uint32_t bytes = chance.of<std::uint32_t>({0, 1, 1000, 1 + chance.below(1'000'000), 5'000'000});
        list.push_back({from, to, bytes});
    }

    Wiring wiring(cluster, ranks);
    std::vector<Flow> flows;
    std::map<std::uint32_t, double> bandwidth_Bps;
    for (const auto& [from, to, bytes] : list) {
        Flow flow{{}, static_cast<double>(bytes)};
        wiring.route({from, 0}, {to, 0}, flow.links);
        for (const std::uint32_t link : flow.links) bandwidth_Bps[link] = wiring.wire(link).bandwidth_Bps;
        flows.push_back(flow);
    }
    const std::vector<double> through = fluid_ends(flows, bandwidth_Bps);
    std::vector<double> expected(ranks, 0);
    for (std::size_t i = 0; i < list.size(); ++i) {
        const double end = through[i] + wiring.latency_s(flows[i].links);
        for (const std::uint32_t rank : {list[i].from, list[i].to}) expected[rank] = std::max(expected[rank], end);
    }
    const std::vector<double> ends = ends_at_once(cluster, one_by_node(ranks), list);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        CAPTURE(rank);
        // SimGrid merges two events closer than 1 ps.
        CHECK(ends[rank] == Approx(expected[rank]).epsilon(1e-9).margin(1e-11));
    }
}

}  // namespace

TEST_CASE("sharing: random messages on random fabrics take the times of a fluid calculation") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Chance chance(seed);
        check_case(chance);
    }
}
