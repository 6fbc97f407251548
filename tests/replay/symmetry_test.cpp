#include "sim/replay/symmetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/alike.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/even_worlds.hpp"
#include "tests/replay/random_plans.hpp"
#include "tests/replay/same_result.hpp"
#include "tests/replay/split_worlds.hpp"

// Compares simulations of one of several equal images with those of all processes.

using namespace syncline;

namespace {

/// Replays of all ranks, of those that stand for others, and of these without having built the others.
struct Pairs {
    ReplayedIteration all, some, built;
};

Pairs both(const Cluster& cluster, const Model& model, Plan plan) {
    plan.fidelity = Fidelity::message;
    ReplayedIteration all = replay_iteration(lower(cluster, model, plan));
    plan.fidelity = Fidelity::folded;
    const Lowered training = lower(cluster, model, plan);
    return {std::move(all), replay_iteration(training), replay_representatives(training)};
}

/// Checks times of all tasks, bytes of all processes and links, and numbers of messages.
void check_equal(const Pairs& pairs) {
    const Timeline &all = pairs.all.timeline, &some = pairs.some.timeline;
    check_same_bytes(all, some);
    const double end_s = all.iteration_end_s.back();
    double worst_s = 0;
    REQUIRE(some.measured().size() == all.measured().size());
    for (std::size_t task = 0; task < all.measured().size(); ++task)
        worst_s = std::max({worst_s, std::abs(some.measured()[task].start_s - all.measured()[task].start_s),
                            std::abs(some.measured()[task].end_s - all.measured()[task].end_s)});
    CHECK(worst_s <= 1e-9 * end_s);
    check_same_result(pairs.some, pairs.built);
    CHECK(pairs.built.timeline.images == some.images);
    CHECK(pairs.built.graph.images() == some.images);
    CHECK(pairs.built.graph.tasks().size() * some.images == pairs.all.graph.tasks().size());
}

/// Eight nodes of two devices in four racks, as a fat tree, and a plan of two rows and data parallelism on all of them.
std::pair<Cluster, Plan> racks(std::int64_t nics, std::vector<std::int64_t> down, std::vector<std::int64_t> up) {
    Cluster cluster = nodes_of(8, 2, nics);
    cluster.fabric.topology.shape = Shape::fat_tree;
    cluster.fabric.topology.down = std::move(down);
    cluster.fabric.topology.up = std::move(up);
    cluster.fabric.topology.bandwidth_Bps = {1e9, 7e8};
    cluster.fabric.topology.latency_s = {2e-6};
    Plan plan;
    plan.ranks = 16;
    plan.compute = ComputeKind::roofline;
    plan.parallelism.layout.rows = 2;
    plan.algorithm.name = "ring";
    return {std::move(cluster), std::move(plan)};
}

}  // namespace

TEST_CASE("symmetry: replicas on equal nodes are simulated once, whatever the plan divides", "[memory]") {
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
        Cluster cluster = nodes_of((plan.ranks + devices - 1) / devices, devices, nics);
        cluster.transport.channels = 1;  // several would run through every second node backwards
        INFO(fmt::format("world {}: {} stages of {} rows and {} replicas, {} devices and {} ports, sharding {}", world,
                         stages, rows, replicas, devices, nics, static_cast<int>(plan.parallelism.sharding)));
        const Pairs pairs = both(cluster, even_layers(chance, 4, 64), plan);
        check_equal(pairs);
        // A stage in one node has an image for each replica; one in several for each node, or for each replica that is
        // in several nodes. Rows of a replica are images of each other, or their nodes are.
        const std::int64_t replicas_alike = stage_ranks <= devices ? replicas : stage_ranks / std::max(devices, rows);
        const std::int64_t rows_alike = rows <= devices ? rows : rows / devices;
        CHECK(pairs.some.timeline.images == replicas_alike * rows_alike);
    }
}

TEST_CASE("symmetry: tensor-parallel ranks of a node stand for each other, beside replicas and stages", "[memory]") {
    // 2 stages of 4 replicas of 4 rows: a replica on each node of 4 devices; two or three on nodes of 8 and 12, where
    // stages and replicas have other neighbours on each node.
    for (const auto& [devices, replicas_alike] : {std::pair{4, 4}, {8, 2}, {12, 1}}) {
        for (const Latency waits : {Latency::travelling, Latency::blocking}) {
            CAPTURE(devices);
            Chance chance(13);
            Plan plan = pipeline_of(2, 16, 6);
            plan.parallelism.layout.rows = 4;
            plan.parallelism.sharding = Sharding::optimizer;
            plan.overlap = Overlap::wait_free;
            Cluster cluster = nodes_of((32 + devices - 1) / devices, devices, devices);
            cluster.latency = waits;
            const Pairs pairs = both(cluster, even_layers(chance, 4, 192), plan);
            check_equal(pairs);
            CHECK(pairs.some.timeline.images == static_cast<std::uint32_t>(4 * replicas_alike));
            CHECK(pairs.built.graph.rotations().all().back() == Rotation{4, 1});
        }
    }
}

TEST_CASE("symmetry: rows are not alike where a node's links tell their devices apart", "[memory]") {
    // Two ports for four devices, two of which share a port: turned by two places the rows are alike.
    Chance chance(14);
    Plan plan = pipeline_of(1, 8, 2);
    plan.parallelism.layout.rows = 4;
    const Pairs ports = both(nodes_of(2, 4, 2), even_layers(chance, 3, 192), plan);
    check_equal(ports);
    CHECK(ports.built.graph.rotations().all() == std::vector<Rotation>{{8, 4}, {4, 2}});
    // A tree among the rows has a root.
    plan.parallelism.algorithms.allreduce = "binomial-tree";
    const Pairs tree = both(nodes_of(2, 4, 4), even_layers(chance, 3, 192), plan);
    check_equal(tree);
    CHECK(tree.built.graph.rotations().all() == std::vector<Rotation>{{8, 4}});
}

TEST_CASE("symmetry: a link that all nodes share is shared by their messages", "[memory]") {
    // Four racks of two nodes: their messages meet on the cables between racks.
    Chance chance(6);
    const auto [cluster, plan] = racks(1, {2, 4}, {1, 1});
    const Pairs pairs = both(cluster, even_layers(chance, 4, 64), plan);
    check_equal(pairs);
    // By racks, since inside a rack messages go other ways than between racks, and by the two rows of each node.
    CHECK(pairs.some.timeline.images == 8);
}

TEST_CASE("symmetry: racks with several ways up are alike if the destination's number chooses the way", "[memory]") {
    // Four racks of two nodes with two ports; as many switches above them as ports in a rack, or half as many, which
    // two messages then share.
    Chance chance(7);
    for (const std::uint32_t up : {4U, 2U})
        for (const Routing::Policy policy : {Routing::Policy::d_mod_k, Routing::Policy::first, Routing::Policy::ecmp}) {
            CAPTURE(up, static_cast<int>(policy));
            auto [cluster, plan] = racks(2, {4, 4}, {1, up});
            cluster.fabric.routing.policy = policy;
            const Pairs pairs = both(cluster, even_layers(chance, 4, 64), plan);
            check_equal(pairs);
            // The two rows of each node are alike, too.
            CHECK(pairs.some.timeline.images == (policy == Routing::Policy::ecmp ? 1 : 8));
        }
}

TEST_CASE("symmetry: messages of all images share a cable that there is once", "[memory]") {
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

TEST_CASE("symmetry: groups that the period divides are in step with the groups of their representatives", "[memory]") {
    // Two rows that exchange nothing among themselves, on nodes of three devices: the replicas of a row are every
    // second rank, and the node after the first one begins with the other row.
    for (const std::int64_t ranks : {12, 24, 48}) {
        for (const Latency waits : {Latency::travelling, Latency::blocking}) {
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
                cluster.latency = waits;
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

TEST_CASE("symmetry: what makes ranks differ is simulated on all of them", "[memory]") {
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
}

TEST_CASE("symmetry: blocks that differ by a byte are made equal where only the ranks of one image are built",
          "[memory]") {
    Chance chance(10);
    Model model = even_layers(chance, 4, 64);
    for (Layer& layer : model.layers) layer.parameters += 2'000'003;
    Plan plan;
    plan.ranks = 8;
    plan.compute = ComputeKind::roofline;
    plan.algorithm.name = "ring";
    const Pairs pairs = both(nodes_of(8, 1, 1), model, plan);
    CHECK(pairs.some.timeline.images == 1);
    check_same_result(pairs.all, pairs.some);
    CHECK(pairs.built.timeline.images == 8);
    check_same_bytes(pairs.all.timeline, pairs.built.timeline);
    CHECK(pairs.built.time.iteration_s == Approx(pairs.all.time.iteration_s).epsilon(1e-6));
    // In each iteration four rings have 14 steps, in each of which a message is at most a byte longer.
    const double byte_s = 1e-9, bound_s = static_cast<double>(plan.iterations) * 4 * 14 * byte_s;
    CHECK(pairs.built.folded.error_s == Approx(bound_s));
    CHECK(std::abs(pairs.built.time.iteration_s - pairs.all.time.iteration_s) <= bound_s);
    // Not unless a plan is to be folded, and not where a few bytes are much of the model.
    plan.fidelity = Fidelity::automatic;
    CHECK(replay_representatives(lower(nodes_of(8, 1, 1), model, plan)).graph.images() == 1);
    plan.fidelity = Fidelity::folded;
    for (Layer& layer : model.layers) layer.parameters -= 1'990'000;
    CHECK(replay_representatives(lower(nodes_of(8, 1, 1), model, plan)).graph.images() == 1);
}

TEST_CASE("symmetry: where links are shared, blocks that are made equal leave no bound on the error", "[memory]") {
    Chance chance(10);
    Model model = even_layers(chance, 4, 64);
    for (Layer& layer : model.layers) layer.parameters += 2'000'003;
    Plan plan;
    plan.ranks = 8;
    plan.compute = ComputeKind::roofline;
    plan.algorithm.name = "ring";
    const auto built = [&](const Cluster& cluster) {
        Pairs pairs = both(cluster, model, plan);
        check_same_bytes(pairs.all.timeline, pairs.built.timeline);
        CHECK(pairs.built.timeline.images > 1);
        return pairs.built.folded;
    };
    const Cluster star = nodes_of(8, 1, 1);
    CHECK(std::isfinite(built(star).error_s));
    SECTION("two rows, whose rings share a port") {
        for (Layer& layer : model.layers) layer = dense(layer.name, 2002, 1000, true);
        plan.ranks = 6;
        plan.parallelism.layout.rows = 2;
        const Folded folded = built(nodes_of(3, 2, 1));
        CHECK(std::isinf(folded.error_s));
        CHECK(folded.uneven_s == 0);
    }
    SECTION("exchanges that slow computation down") {
        Cluster slowed = star;
        slowed.device.speed_beside_exchange = 0.5;
        CHECK(std::isinf(built(slowed).error_s));
    }
    SECTION("two exchanges of a rank at a time") {
        plan.parallelism.sharding = Sharding::parameters;
        plan.overlap = Overlap::wait_free;
        CHECK(std::isinf(built(star).error_s));
    }
}

TEST_CASE("symmetry: a byte for each of many small blocks is not negligible") {
    // Pieces of 400 B, whose rings of three ranks have blocks of 66 and 67 B.
    Dense shape;
    shape.inputs = 1024;
    shape.outputs = 100;
    Model model;
    model.name = "one layer";
    model.sample_elements = shape.inputs;
    model.layers = {dense("fc", shape)};
    model.layers.front().parameters = 510'000;
    Plan plan;
    plan.ranks = 6;
    plan.batch_per_rank = 4;
    plan.compute = ComputeKind::roofline;
    plan.iterations = 2;
    plan.algorithm.name = "ring";
    plan.partition_bytes = 400;
    plan.parallelism.sharding = Sharding::parameters;
    plan.parallelism.shard_ranks = 2;
    Cluster cluster = nodes_of(6, 1, 1, 1.25e7);
    cluster.fabric.topology.latency_s = {2.5e-6};
    plan.fidelity = Fidelity::message;
    const ReplayedIteration all = replay_iteration(lower(cluster, model, plan));
    plan.fidelity = Fidelity::folded;
    const ReplayedIteration some = replay_representatives(lower(cluster, model, plan));
    CHECK(some.folded.error_s <= 1e-9 * some.time.iteration_s);
    check_same_result(all, some);
}

TEST_CASE("symmetry: random plans have the same result if only the ranks that stand for others are built") {
    int fewer = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        RandomPlan random = random_plan(seed);
        random.plan.fidelity = Fidelity::folded;
        random.plan.noise = {};
        const Lowered training = lower(random.cluster, random.model, random.plan);
        if (alike_ranks(training).empty()) continue;
        INFO(random.words());
        const ReplayedIteration built = replay_representatives(training);
        if (built.graph.images() == 1) continue;
        const ReplayedIteration all = replay_iteration(training);
        if (all.timeline.images != built.timeline.images) continue;  // blocks were made equal
        ++fewer;
        check_same_result(all, built);
    }
    CHECK(fewer > 20);
}

TEST_CASE("symmetry: a graph of some ranks is refused where nothing shows that they stand for others", "[memory]") {
    Chance chance(11);
    Plan plan;
    plan.ranks = 8;
    plan.compute = ComputeKind::roofline;
    plan.algorithm.name = "binomial-tree";
    const Lowered training = lower(nodes_of(8, 1, 1), even_layers(chance, 2, 64), plan);
    CHECK(alike_ranks(training) == std::vector<Rotation>{{8, 1}, {4, 1}, {2, 1}});
    CHECK(replay_representatives(training).graph.images() == 1);
    ReplayOptions options;
    options.fold = true;
    CHECK_THROWS_AS(replay_isolated(training.cluster, build_representatives(training, Rotations({{8, 2}})), options),
                    std::exception);
}

TEST_CASE("symmetry: ranks are alike after as many as layouts and groups repeat with", "[memory]") {
    const auto alike = [](std::int64_t rows, const std::string& keys) {
        Chance chance(12);
        Plan plan;
        plan.ranks = 48;
        plan.compute = ComputeKind::roofline;
        plan.algorithm.name = "ring";
        plan.parallelism.layout.rows = rows;
        if (keys == "within 6") {
            plan.parallelism.sharding = Sharding::parameters;
            plan.parallelism.shard_ranks = 6;
        }
        if (keys == "straggler") plan.noise.stragglers = {1, {}, 2};
        if (keys == "priority") plan.schedule = Schedule::priority;
        return Rotations::nested(alike_ranks(lower(nodes_of(48, 1, 1), even_layers(chance, 2, 96), plan))).all();
    };
    using Rotated = std::vector<Rotation>;
    CHECK(alike(1, "") == Rotated{{48, 1}});
    // Twelve replicas of four rows, which do the same.
    CHECK(alike(4, "") == Rotated{{48, 4}, {4, 1}});
    CHECK(alike(48, "") == Rotated{{48, 1}});
    // Eight groups of six, whose members have shards of the same size.
    CHECK(alike(1, "within 6") == Rotated{{48, 6}, {6, 1}});
    // With two rows shards are among every second of twelve.
    CHECK(alike(2, "within 6") == Rotated{{48, 12}, {12, 2}, {2, 1}});
    CHECK(alike(1, "straggler") == Rotated{});
    CHECK(alike(1, "priority") == Rotated{});
}
