#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/replay/middle.hpp"
#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/even_worlds.hpp"
#include "tests/replay/same_result.hpp"

// `fidelity: averaged`: compares simulations of one of several ranks that are alike but for latencies with those of
// all.

using namespace syncline;

namespace {

constexpr std::int64_t devices = 2;

/// Nodes with a port for each device, on leaves of `unit` nodes for each rail, whose cables to the one spine have
/// `uplink` times a port's bandwidth.
Cluster leaves_of(std::int64_t nodes, std::int64_t unit, double uplink, double spine_latency_s) {
    constexpr double port_Bps = 1e9, port_latency_s = 1e-6;
    Cluster cluster = nodes_of(nodes, devices, devices);
    TopologySpec topology;
    topology.shape = Shape::rails;
    topology.rails = devices;
    topology.nodes_per_group = unit;
    topology.spines = 1;
    topology.bandwidth_Bps = {port_Bps, uplink * port_Bps};
    topology.latency_s = {port_latency_s, spine_latency_s};
    cluster.fabric.topology = topology;
    cluster.transport.pxn = false;  // so that rings change rails
    return cluster;
}

ReplayedIteration replayed(const Cluster& cluster, const Model& model, Plan plan, Fidelity fidelity) {
    plan.fidelity = fidelity;
    return replay_representatives(lower(cluster, model, plan));
}

}  // namespace

TEST_CASE("averages: one rank stands for all whose routes differ in latency alone", "[memory]") {
    Chance chance(7);
    for (int world = 0; world < 24; ++world) {
        const std::int64_t unit = 2 + chance.below(3), stages = 1 + chance.below(2);
        const std::int64_t stage_nodes =
            unit + 1 + chance.below(static_cast<std::uint64_t>(unit - 1));  // no multiple of the units
        const std::int64_t rows = chance.of<std::int64_t>({1, 2}), replicas = devices * stage_nodes / rows;
        Plan plan = pipeline_of(stages, rows * replicas, stages == 1 ? 1 : 2);
        plan.parallelism.layout.rows = rows;
        plan.iterations = 1 + chance.below(3);
        plan.overlap = chance.of<Overlap>({Overlap::none, Overlap::wait_free});
        plan.parallelism.sharding = chance.of<Sharding>({Sharding::none, Sharding::optimizer, Sharding::parameters});
        const Cluster cluster = leaves_of(stages * stage_nodes, unit, static_cast<double>(unit), 1e-7);
        const Model model = even_layers(chance, 4, plan.ranks * 4);
        CAPTURE(world, unit, stages, stage_nodes, rows, plan.iterations);
        const ReplayedIteration all = replayed(cluster, model, plan, Fidelity::message);
        const ReplayedIteration averaged = replayed(cluster, model, plan, Fidelity::averaged);
        CHECK(averaged.folded.images == stage_nodes * rows);  // the rows of a replica are on one node
        CHECK(averaged.timeline.messages == all.timeline.messages);
        CHECK(averaged.timeline.bytes_sent == all.timeline.bytes_sent);
        CHECK(averaged.timeline.sent_by == all.timeline.sent_by);
        CHECK(averaged.timeline.received_by == all.timeline.received_by);
        CHECK(bytes_by_link(averaged.timeline) == bytes_by_link(all.timeline));
        // Without rows a ring goes from a node's last device to the next node's first one, always by the spine.
        CHECK(averaged.folded.uneven_s == Approx(rows == 1 ? 0 : 2e-7));
        if (rows == 1) check_same_result(all, averaged);
        // No bound is known; this one is chosen. Latencies of all messages in a row would be several times as much.
        CHECK(averaged.time.iteration_s == Approx(all.time.iteration_s).epsilon(0.01));
        // Folding by itself changes nothing.
        const ReplayedIteration folded = replayed(cluster, model, plan, Fidelity::folded);
        CHECK(folded.folded.uneven_s == 0);
        CHECK(std::abs(folded.time.iteration_s - all.time.iteration_s) <=
              folded.folded.error_s + 1e-9 * all.time.iteration_s);
    }
}

TEST_CASE("averages: each step of a ring has the mean latency of its messages, or the highest if latency blocks",
          "[memory]") {
    // Rings of the five nodes' devices of one rail: two of five messages pass the spine.
    const std::int64_t nodes = 5, unit = 3, steps = 2 * (nodes - 1);
    for (const Latency latency : {Latency::travelling, Latency::blocking}) {
        const double spine_latency_s = 1e-4, share = latency == Latency::blocking ? 1 : 2.0 / 5;
        Plan plan = pipeline_of(1, devices * nodes, 1);
        plan.parallelism.layout.rows = devices;
        plan.overlap = Overlap::none;
        Chance chance(1);
        const Model model = even_layers(chance, 1, plan.ranks);
        const auto time_s = [&](std::int64_t nodes_per_leaf, Fidelity fidelity) {
            Cluster cluster = leaves_of(nodes, nodes_per_leaf, static_cast<double>(unit), spine_latency_s);
            cluster.latency = latency;
            return replayed(cluster, model, plan, fidelity).time.iteration_s;
        };
        const double added_s = time_s(unit, Fidelity::averaged) - time_s(nodes, Fidelity::message);
        CHECK(added_s == Approx(static_cast<double>(steps) * 2 * spine_latency_s * share));
    }
}

TEST_CASE("averages: where a link between switches may be short, all nodes are simulated", "[memory]") {
    const std::int64_t nodes = 5, unit = 3;
    for (const bool short_links : {false, true}) {
        CAPTURE(short_links);
        Chance chance(3);
        Plan plan = pipeline_of(1, devices * nodes, 1);
        plan.parallelism.layout.rows = devices;
        // A rail's ring has one message at a time between two leaves; exchanges with all have more.
        plan.algorithm.name = short_links ? "direct" : "ring";
        const Cluster cluster = leaves_of(nodes, unit, 1, 1e-5);
        const Model model = even_layers(chance, 2, plan.ranks);
        const ReplayedIteration averaged = replayed(cluster, model, plan, Fidelity::averaged);
        CHECK(averaged.folded.images == (short_links ? devices : devices * nodes));  // or one row of each node
        if (short_links) check_same_result(replayed(cluster, model, plan, Fidelity::message), averaged);
    }
}

TEST_CASE("averages: the middle of a fabric restricts nothing if it has the bandwidth of its ports", "[memory]") {
    for (const double uplink : {1.0, 2.0, 2.9, 3.0, 4.0}) {
        const std::int64_t nodes = 6, unit = 3;
        const Cluster cluster = leaves_of(nodes, unit, uplink, 1e-6);
        std::vector<Place> places;
        for (std::uint32_t node = 0; node < nodes; ++node) places.push_back({node, 0});
        const Wires wires(cluster, places);
        for (const std::uint32_t senders : {1u, 2u, 3u}) {
            CAPTURE(uplink, senders);
            Middle middle(wires);
            for (std::uint32_t from = 0; from < senders; ++from)
                for (std::uint32_t to = 3; to < 6; ++to) middle.add(wires.route_numbers(from, to));
            CHECK(middle.restricts_nothing() == (senders <= uplink));
            CHECK(std::ranges::count(middle.links(), true) == 2);
        }
    }
}
