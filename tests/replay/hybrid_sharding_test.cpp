#include <random>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/work.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// State that groups of ranks divide (HSDP): Y. Zhao et al., "PyTorch FSDP", VLDB 2023, section 3.2.2.

using namespace syncline;

namespace {

constexpr Star star{1e9, 5e-6};
constexpr double element_bytes = 4, reduction_Bps = 2e10;

struct World {
    Model model;
    Cluster cluster;
    double compute_s = 0;

    double bytes(std::size_t layer) const {
        return static_cast<double>(model.layers[layer].parameters) * element_bytes;
    }
};

/// The parameters of each layer are divisible by the number of ranks, so that shards are equal. A rank has a node.
World world_of(std::mt19937& random, std::int64_t ranks, std::size_t layers) {
    World world;
    world.model = plain_model(layers, 0, 100);
    std::uniform_real_distribution<double> seconds(1e-4, 4e-3);
    std::vector<double> forward_s, backward_s;
    for (Layer& layer : world.model.layers) {
        layer.parameters = ranks * static_cast<std::int64_t>(random() % 400'000 + 1);
        forward_s.push_back(seconds(random));
        backward_s.push_back(seconds(random));
        world.compute_s += forward_s.back() + backward_s.back();
    }
    world.cluster = timed_star(ranks, star.bandwidth_Bps, star.latency_s, world.model, forward_s, backward_s);
    world.cluster.device.reduction_Bps = reduction_Bps;
    return world;
}

Plan plan_of(std::int64_t ranks, Sharding sharding, std::int64_t within) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 1;
    plan.compute = ComputeKind::measured;
    plan.iterations = 3;
    plan.overlap = Overlap::none;
    plan.algorithm.name = "ring";
    plan.parallelism.sharding = sharding;
    plan.parallelism.shard_ranks = within;
    return plan;
}

/// Time of a ring's reduce-scatter of these bytes, with the additions.
double scattered_s(double ranks, double bytes) {
    return star.ring_s(ranks, bytes) + (ranks - 1) / ranks * bytes / reduction_Bps;
}

}  // namespace

TEST_CASE("hybrid sharding: one layer takes a reduce-scatter in the group, an all-reduce of shards, and allgathers",
          "[memory]") {
    std::mt19937 random(3);
    for (const auto& [groups, each] : {std::pair{2, 2}, {3, 2}, {2, 4}, {4, 3}, {1, 4}}) {
        const std::int64_t ranks = groups * each;
        const double g = groups, s = each;
        const World world = world_of(random, ranks, 1);
        const double bytes = world.bytes(0);
        for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
            CAPTURE(groups, each, static_cast<int>(sharding));
            const Result result = simulate(lower(world.cluster, world.model, plan_of(ranks, sharding, each)));
            const double copies_s = scattered_s(g, bytes / s) + star.ring_s(g, bytes / s);
            const bool gathered = sharding == Sharding::parameters;
            // Weights are gathered once after the update, or before both passes, the second time during the first: the
            // second pass of a single layer waits for the gathering behind the first one.
            const double measured_s = result.time.iteration_s;
            const double rest_s = world.compute_s + scattered_s(s, bytes) + copies_s + star.ring_s(s, bytes);
            if (gathered) {
                CHECK(measured_s >= rest_s * (1 - 1e-6));
                CHECK(measured_s <= (rest_s + star.ring_s(s, bytes)) * (1 + 1e-6));
            } else {
                CHECK(measured_s == Approx(rest_s).epsilon(1e-6));
            }
            // Bytes: (s-1) times the buffer in each group, for each collective; 2(g-1) times the shard for each shard.
            const double collectives = gathered ? 3 : 2;
            CHECK(static_cast<double>(result.bytes_sent) ==
                  Approx(collectives * g * (s - 1) * bytes + 2 * (g - 1) * bytes).epsilon(1e-12));
        }
    }
}

TEST_CASE("hybrid sharding: a node's ranks are its devices", "[memory]") {
    std::mt19937 random(7);
    for (int round = 0; round < 6; ++round) {
        World world = world_of(random, 4, 4);
        world.cluster.device.reduction_Bps = unlimited;
        world.cluster.node.devices = 2;
        world.cluster.node.link = {3e9, 1e-6};
        world.cluster.nodes = 2;
        world.cluster.node.nics = 2;
        Plan plan = plan_of(4, Sharding::gradients, ranks_of_node);
        plan.channels = 1;
        const Result node = simulate(lower(world.cluster, world.model, plan));
        plan.parallelism.shard_ranks = 2;
        const Result two = simulate(lower(world.cluster, world.model, plan));
        CHECK(node.time.iteration_s == two.time.iteration_s);
        CHECK(node.bytes_sent == two.bytes_sent);
        CHECK(node.time.iteration_s > world.compute_s);
    }
}

TEST_CASE("hybrid sharding: groups of all ranks are sharding among all, and memory is divided by the group's size",
          "[memory]") {
    std::mt19937 random(5);
    const World world = world_of(random, 12, 5);
    for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
        Plan plan = plan_of(12, sharding, 12);
        const Result all = simulate(lower(world.cluster, world.model, plan));
        plan.parallelism.shard_ranks.reset();
        const Result plain = simulate(lower(world.cluster, world.model, plan));
        CHECK(all.time.iteration_s == plain.time.iteration_s);
        CHECK(all.bytes_sent == plain.bytes_sent);
        double bytes = 0, largest = 0, second = 0;
        for (std::size_t i = 0; i < world.model.layers.size(); ++i) {
            bytes += world.bytes(i);
            if (world.bytes(i) > largest)
                second = std::exchange(largest, world.bytes(i));
            else
                second = std::max(second, world.bytes(i));
        }
        for (const std::int64_t within : {2, 3, 4, 6, 12}) {
            plan.parallelism.shard_ranks = within;
            const Memory memory = memory_of(lower(world.cluster, world.model, plan));
            const double part = 1 / static_cast<double>(within);
            const bool gradients = sharding != Sharding::optimizer, weights = sharding == Sharding::parameters;
            CHECK(memory.optimizer_bytes == Approx(bytes * part));
            // The largest layer's gradients are whole before they are reduced.
            CHECK(memory.gradients_bytes == Approx(gradients ? bytes * part + largest * (1 - part) : bytes));
            CHECK(memory.weights_bytes == Approx(weights ? bytes * part + (largest + second) * (1 - part) : bytes));
        }
    }
}

TEST_CASE("hybrid sharding: rows, stages and microbatches have groups of their own, counted and folded alike",
          "[memory]") {
    std::mt19937 random(9);
    for (const Overlap overlap : {Overlap::none, Overlap::wait_free}) {
        for (const std::int64_t rows : {1, 2}) {
            for (const Sharding sharding : {Sharding::optimizer, Sharding::parameters}) {
                CAPTURE(static_cast<int>(overlap), rows, static_cast<int>(sharding));
                const World world = world_of(random, 16, 4);
                Plan plan = plan_of(16, sharding, 2);
                plan.overlap = overlap;
                plan.batch_per_rank = 2;
                plan.parallelism.pipeline = {2, 2, 1, PipelineSchedule::one_f_one_b, {}};
                plan.parallelism.layout.rows = rows;
                const Lowered training = lower(world.cluster, world.model, plan);
                CHECK(work_of(training).tasks == static_cast<double>(build_iteration(training).tasks().size()));
                const Result simulated = simulate(training);
                plan.fidelity = Fidelity::folded;
                const Result folded = simulate(lower(world.cluster, world.model, plan));
                CHECK(folded.time.iteration_s == Approx(simulated.time.iteration_s).epsilon(1e-9));
                CHECK(folded.bytes_sent == simulated.bytes_sent);
                // Each of the 8 ranks of a stage, in groups of two: the parts of the rows together are the layers.
                const double groups = 8.0 / static_cast<double>(rows) / 2,
                             gatherings = sharding == Sharding::parameters ? 4 : 1;
                double bytes = 0;
                for (std::size_t i = 0; i < 4; ++i) bytes += world.bytes(i);
                const double gradients = groups * bytes * (1 + gatherings) + 2 * (groups - 1) * bytes;
                plan.parallelism.sharding = Sharding::none;
                plan.fidelity = Fidelity::message;
                const Result whole = simulate(lower(world.cluster, world.model, plan));
                const double replicas = 8.0 / static_cast<double>(rows);
                const double activations = static_cast<double>(whole.bytes_sent) - 2 * (replicas - 1) * bytes;
                CHECK(static_cast<double>(simulated.bytes_sent) == Approx(activations + gradients).epsilon(1e-6));
            }
        }
    }
}

TEST_CASE("hybrid sharding: groups that do not fit are refused", "[memory]") {
    std::mt19937 random(1);
    const World world = world_of(random, 6, 2);
    const auto message = [&](Plan plan, Cluster cluster) -> std::string {
        try {
            lower(cluster, world.model, plan);
        } catch (const ParallelismError& error) {
            CHECK(error.key == "sharding.within");
            CHECK_FALSE(error.hint.empty());
            return error.what();
        }
        return "";
    };
    CHECK(message(plan_of(6, Sharding::parameters, 4), world.cluster)
              .find("6 ranks with the same weights cannot be "
                    "divided into groups of 4") != std::string::npos);
    CHECK(message(plan_of(6, Sharding::parameters, ranks_of_node), world.cluster).find("no two ranks of a node") !=
          std::string::npos);
    Cluster pairs = world.cluster;
    pairs.nodes = 3;
    pairs.node.devices = 2;
    Plan plan = plan_of(6, Sharding::parameters, ranks_of_node);
    CHECK(message(plan, pairs).empty());
    plan.placement.order = RankPlacement::Order::round_robin;
    CHECK(message(plan, pairs).find("on different nodes") != std::string::npos);
}
