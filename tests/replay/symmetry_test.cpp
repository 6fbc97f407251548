#include "sim/replay/symmetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "sim/analysis/experiment.hpp"
#include "sim/replay/replay.hpp"
#include "sim/training/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/split_worlds.hpp"

// Compares simulations of one of several equal images with those of all processes.

using namespace syncline;

namespace {

/// Layers whose parameters, inputs and outputs `parts` divides.
Model even_layers(Chance& chance, std::size_t layers, std::int64_t parts) {
    Model model;
    model.name = "chain";
    model.sample_elements = parts;
    for (std::size_t i = 0; i < layers; ++i) {
        Dense shape;
        shape.inputs = parts;
        shape.outputs = parts;
        shape.bias = false;
        shape.positions = parts * (1 + chance.below(4));
        model.layers.push_back(dense(fmt::format("l{}", i), shape));
    }
    return model;
}

/// Nodes of `devices` with `nics` ports on one switch.
Cluster nodes_of(std::int64_t nodes, std::int64_t devices, std::int64_t nics) {
    Cluster cluster = star_cluster(nodes, 1e9, 2e-6);
    cluster.device.flops_per_s = 2e9;
    cluster.device.memory_Bps = 1e30;
    cluster.node.devices = devices;
    cluster.node.nics = nics;
    cluster.node.link = {5e9, 1e-6};
    return cluster;
}

struct Pairs {
    ReplayedIteration all, some;
};

Pairs both(const Cluster& cluster, const Model& model, Plan plan) {
    plan.fidelity = Fidelity::message;
    ReplayedIteration all = replay_iteration(lower(cluster, model, plan));
    plan.fidelity = Fidelity::folded;
    return {std::move(all), replay_iteration(lower(cluster, model, plan))};
}

/// Checks times of all tasks, bytes of all processes and links, and numbers of messages.
void check_equal(const Pairs& pairs) {
    const Timeline &all = pairs.all.timeline, &some = pairs.some.timeline;
    CHECK(some.messages == all.messages);
    CHECK(some.bytes_sent == all.bytes_sent);
    CHECK(some.sent_by == all.sent_by);
    CHECK(some.received_by == all.received_by);
    const double end_s = all.iteration_end_s.back();
    double worst_s = 0;
    REQUIRE(some.measured().size() == all.measured().size());
    for (std::size_t task = 0; task < all.measured().size(); ++task)
        worst_s = std::max({worst_s, std::abs(some.measured()[task].start_s - all.measured()[task].start_s),
                            std::abs(some.measured()[task].end_s - all.measured()[task].end_s)});
    CHECK(worst_s <= 1e-9 * end_s);
    std::map<std::string, std::uint64_t> expected;
    for (const LinkUse& link : all.links) expected[link.name] = link.bytes;
    std::map<std::string, std::uint64_t> found;
    for (const LinkUse& link : some.links) found[link.name] = link.bytes;
    CHECK(found == expected);
}

}  // namespace

TEST_CASE("symmetry: replicas on equal nodes are simulated once, whatever the plan divides") {
    Chance chance(5);
    for (int world = 0; world < 24; ++world) {
        const std::int64_t devices = chance.of<std::int64_t>({1, 2, 4}), nics = world % 2 == 0 ? devices : 1;
        const std::int64_t stages = 1 + chance.below(2), rows = chance.of<std::int64_t>({1, 1, 2, 4});
        const std::int64_t replicas = chance.of<std::int64_t>({2, 4, 8});
        Plan plan;
        plan.ranks = stages * rows * replicas;
        const std::int64_t stage_ranks = rows * replicas;
        plan.compute = ComputeKind::roofline;
        plan.iterations = 1 + chance.below(3);
        plan.parallelism.layout.rows = rows;
        plan.parallelism.pipeline.stages = stages;
        plan.parallelism.pipeline.micro_batches = stages == 1 ? 1 : 1 + chance.below(4);
        plan.batch_per_rank = plan.parallelism.pipeline.micro_batches;
        plan.overlap = chance.of<Overlap>({Overlap::none, Overlap::wait_free});
        plan.parallelism.sharding = chance.of<Sharding>({Sharding::none, Sharding::optimizer, Sharding::parameters});
        plan.algorithm.name = "ring";
        const Cluster cluster = nodes_of((plan.ranks + devices - 1) / devices, devices, nics);
        INFO(fmt::format("world {}: {} stages of {} rows and {} replicas, {} devices and {} ports, sharding {}", world,
                         stages, rows, replicas, devices, nics, static_cast<int>(plan.parallelism.sharding)));
        const Pairs pairs = both(cluster, even_layers(chance, 4, 64), plan);
        check_equal(pairs);
        // A stage that fills whole nodes has one image for each of them; a replica's rows stay together.
        const std::int64_t together = std::max(devices, rows);
        const std::int64_t images = stage_ranks % devices == 0 ? stage_ranks / together : 1;
        CHECK(pairs.some.timeline.images == std::max<std::int64_t>(images, 1));
    }
}

TEST_CASE("symmetry: a link that all nodes share is shared by their messages") {
    // Four racks of two nodes: their messages meet on the cables between racks.
    Chance chance(6);
    Cluster cluster = nodes_of(8, 2, 1);
    cluster.fabric.topology.shape = Shape::fat_tree;
    cluster.fabric.topology.down = {2, 4};
    cluster.fabric.topology.up = {1, 1};
    cluster.fabric.topology.bandwidth_Bps = {1e9, 7e8};
    cluster.fabric.topology.latency_s = {2e-6};
    Plan plan;
    plan.ranks = 16;
    plan.compute = ComputeKind::roofline;
    plan.parallelism.layout.rows = 2;
    plan.algorithm.name = "ring";
    const Pairs pairs = both(cluster, even_layers(chance, 4, 64), plan);
    check_equal(pairs);
    CHECK(pairs.some.timeline.images == 4);  // by racks; inside a rack messages go other ways than between racks
}

TEST_CASE("symmetry: messages of all images share a cable that there is once") {
    // Two stages in two racks: what the first one sends goes over one cable.
    Chance chance(8);
    Cluster cluster = nodes_of(8, 1, 1);
    cluster.fabric.topology.shape = Shape::fat_tree;
    cluster.fabric.topology.down = {4, 2};
    cluster.fabric.topology.up = {1, 1};
    Plan plan;
    plan.ranks = 8;
    plan.compute = ComputeKind::roofline;
    plan.algorithm.name = "ring";
    plan.parallelism.pipeline.stages = 2;
    plan.parallelism.pipeline.micro_batches = 4;
    plan.batch_per_rank = 4;
    const Model model = even_layers(chance, 4, 64);
    const Pairs pairs = both(cluster, model, plan);
    check_equal(pairs);
    CHECK(pairs.some.timeline.images == 4);
    // Without contention each message has the cable for itself, in the quotient, too.
    plan.fidelity = Fidelity::message;
    const TaskGraph graph = build_iteration(lower(cluster, model, plan));
    ReplayOptions options;
    options.contention = false;
    const double alone_s = replay_isolated(cluster, graph, options).iteration_end_s.back();
    options.fold = true;
    CHECK(replay_isolated(cluster, graph, options).iteration_end_s.back() == Approx(alone_s).epsilon(1e-9));
    CHECK(alone_s < pairs.all.timeline.iteration_end_s.front());
}

TEST_CASE("symmetry: groups that the period divides are in step with the groups of their representatives") {
    // Two rows that exchange nothing among themselves, on nodes of three devices: the replicas of a row are every
    // second rank, and the node after the first one begins with the other row.
    for (const std::int64_t ranks : {12, 24, 48}) {
        for (const Latency latency : {Latency::travelling, Latency::blocking}) {
            for (const double link_Bps : {3e8, 1.25e9, 2e10}) {
                CAPTURE(ranks, link_Bps);
                Chance chance(9);
                Model model = even_layers(chance, 1, 192);
                Dense shape;
                shape.inputs = shape.outputs = 192;
                shape.bias = false;
                shape.gathered = false;
                model.layers = {dense("alone", shape)};
                Cluster cluster = nodes_of(ranks / 3, 3, 3);
                cluster.latency = latency;
                cluster.node.link = {link_Bps, 2e-6};
                Plan plan;
                plan.ranks = ranks;
                plan.compute = ComputeKind::roofline;
                plan.algorithm.name = "ring";
                plan.parallelism.layout.rows = 2;
                plan.iterations = 2;
                const Pairs pairs = both(cluster, model, plan);
                check_equal(pairs);
                CHECK(pairs.some.timeline.images == ranks / 6);
            }
        }
    }
}

TEST_CASE("symmetry: what makes ranks differ is simulated on all of them") {
    Chance chance(7);
    const Model model = even_layers(chance, 4, 64);
    const Cluster cluster = nodes_of(8, 1, 1);
    Plan plan;
    plan.ranks = 8;
    plan.compute = ComputeKind::roofline;
    plan.algorithm.name = "ring";
    const auto images = [&] {
        const Pairs pairs = both(cluster, model, plan);
        check_equal(pairs);
        return pairs.some.timeline.images;
    };
    CHECK(images() == 8);
    SECTION("a straggler") {
        plan.noise.stragglers.count = 1;
        plan.noise.stragglers.slowdown = 1.5;
        CHECK(images() == 1);
    }
    SECTION("jitter") {
        plan.noise.jitter = 0.1;
        CHECK(images() == 1);
    }
    SECTION("an algorithm in which ranks play different parts") {
        plan.algorithm.name = "binomial-tree";
        CHECK(images() == 1);
    }
    SECTION("blocks of different sizes") {
        Model odd = model;
        odd.layers.front().parameters += 3;
        const Pairs pairs = both(cluster, odd, plan);
        check_equal(pairs);
        CHECK(pairs.some.timeline.images == 1);
    }
}
