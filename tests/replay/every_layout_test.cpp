#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/taskgraph/ticks.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Ways to exchange gradients that were made for data parallelism, in groups of replicas: of rows, of stages, and of
// several microbatches. Iterations by their recurrences.

using namespace syncline;

namespace {

constexpr Star star{1e9, 5e-6};

TimedWorld world_of(std::mt19937& random, std::int64_t ranks, std::size_t layers, std::int64_t unit) {
    return timed_world(random, star, ranks, layers, unit, 120);
}

double sum(const std::vector<double>& seconds) {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

Plan plan_of(std::int64_t ranks, std::int64_t micro_batches) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = micro_batches;
    plan.parallelism.pipeline.micro_batches = micro_batches;
    plan.compute = ComputeKind::measured;
    plan.iterations = 2;
    plan.input_copy = InputCopy::none;
    return plan;
}

/// Returns the time of an all-reduce among this many ranks.
double allreduce_s(double ranks, double bytes) {
    return 2 * star.ring_s(ranks, bytes);
}

double time_of(const TimedWorld& world, const Plan& plan) {
    return simulate(lower(world.cluster, world.model, plan)).time.iteration_s;
}

/// Returns the bytes that a rank exchanges of each layer, in backward order, of which it has one row.
std::vector<double> exchanged(const TimedWorld& world, std::int64_t rows) {
    std::vector<double> bytes;
    for (const Layer& layer : world.model.layers)
        bytes.push_back(4 * static_cast<double>(layer.parameters) / static_cast<double>(rows));
    std::reverse(bytes.begin(), bytes.end());
    return bytes;
}

struct Split {
    std::int64_t rows, columns, micro_batches;
};
const std::vector<Split> splits{{1, 2, 3}, {2, 2, 1}, {2, 4, 2}, {3, 2, 1}, {4, 3, 3}};

/// A plan of rows and columns that exchanges all gradients after its passes.
Plan after_passes(const Split& split) {
    Plan plan = plan_of(split.rows * split.columns, split.micro_batches);
    plan.parallelism.layout.rows = split.rows;
    plan.overlap = Overlap::none;
    return plan;
}

TimedWorld world_of(std::mt19937& random, const Split& split) {
    return world_of(random, split.rows * split.columns, 5, 4 * split.rows * split.columns);
}

}  // namespace

TEST_CASE("every layout: with microbatches a cycle delays the gradients of the last one", "[memory]") {
    std::mt19937 random(1);
    for (const std::int64_t ranks : {2, 4})
        for (const std::int64_t micro_batches : {1, 2, 3, 5})
            for (const double cycle_s : {0.4e-3, 3e-3}) {
                const TimedWorld world = world_of(random, ranks, 4, 4 * ranks);
                Plan plan = plan_of(ranks, micro_batches);
                plan.fusion.cycle_s = cycle_s;
                double ready_s =
                    static_cast<double>(micro_batches - 1) * (sum(world.forward_s) + sum(world.backward_s)) +
                    sum(world.forward_s);
                double end_s = 0;
                for (std::size_t layer = world.model.layers.size(); layer-- > 0;) {
                    ready_s += world.backward_s[layer];
                    end_s = std::max(end_s, next_tick(ready_s, cycle_s)) +
                            allreduce_s(static_cast<double>(ranks),
                                        4 * static_cast<double>(world.model.layers[layer].parameters));
                }
                CAPTURE(ranks, micro_batches, cycle_s);
                const Result result = simulate(lower(world.cluster, world.model, plan));
                CHECK(result.time.iteration_s == Approx(end_s).epsilon(1e-6));
                CHECK(result.closed_form.iteration_time_s.value() == Approx(end_s).epsilon(1e-6));
            }
}

TEST_CASE("every layout: the first of each group of replicas answers the requests of its group", "[memory]") {
    std::mt19937 random(2);
    for (const Split& split : splits) {
        const TimedWorld world = world_of(random, split);
        Plan plan = after_passes(split);
        const double before_s = time_of(world, plan);
        plan.fusion.negotiation = Negotiation::on_ready;
        const auto layers = static_cast<double>(world.model.layers.size());
        const double requests_s =
            2 * layers * (2 * star.latency_s + static_cast<double>(split.columns - 1) * 128 / star.bandwidth_Bps);
        CAPTURE(split.rows, split.columns, split.micro_batches);
        CHECK(time_of(world, plan) == Approx(before_s + requests_s).epsilon(1e-6));
    }
}

TEST_CASE("every layout: gossip exchanges the weights of a row among its replicas", "[memory]") {
    std::mt19937 random(3);
    for (const Split& split : splits) {
        const TimedWorld world = world_of(random, split);
        Plan plan = after_passes(split);
        const auto columns = static_cast<double>(split.columns);
        double time_s = time_of(world, plan);
        plan.exchange = ExchangeKind::gossip;
        plan.algorithm = {.operation = "neighbour-exchange", .name = "gossip", .overlay = TopologySpec{}};
        plan.algorithm.overlay->shape = Shape::ring;
        // Each rank sends to its one neighbour, or to both, over one link.
        for (const double bytes : exchanged(world, split.rows))
            time_s += star.message_s(std::min(2.0, columns - 1) * bytes) - allreduce_s(columns, bytes);
        CAPTURE(split.rows, split.columns, split.micro_batches);
        CHECK(time_of(world, plan) == Approx(time_s).epsilon(1e-6));
    }
}

TEST_CASE("every layout: priorities change the order of buckets within each group, and not their sum", "[memory]") {
    std::mt19937 random(4);
    for (const std::int64_t stages : {1, 2})
        for (const Split& split : splits) {
            TimedWorld world = world_of(random, stages * split.rows * split.columns, 6, 4 * split.rows * split.columns);
            Plan plan = after_passes(split);
            plan.ranks *= stages;
            plan.parallelism.pipeline.stages = stages;
            plan.partition_bytes = static_cast<double>(40'000 * split.columns);
            const double in_order_s = time_of(world, plan);
            for (const Schedule schedule : {Schedule::priority, Schedule::random}) {
                plan.schedule = schedule;
                CAPTURE(stages, split.rows, split.columns, split.micro_batches);
                CHECK(time_of(world, plan) == Approx(in_order_s).epsilon(1e-6));
            }
        }
}

TEST_CASE("every layout: a rank encodes and decodes the gradients of its row", "[memory]") {
    std::mt19937 random(5);
    for (const Split& split : splits) {
        if (split.micro_batches > 1) continue;
        TimedWorld world = world_of(random, split);
        world.cluster.device.memory_Bps = 1e9;
        Plan plan = after_passes(split);
        const auto columns = static_cast<double>(split.columns);
        const Result whole = simulate(lower(world.cluster, world.model, plan));
        double arrived_s = whole.time.iteration_s, sent = static_cast<double>(whole.bytes_sent), encoding_s = 0;
        for (const double bytes : exchanged(world, split.rows)) {
            arrived_s -= allreduce_s(columns, bytes);
            encoding_s += 1.5 * bytes / 1e9;
            // Each rank sends 2(n-1)/n of a buffer of half the size.
            sent -= static_cast<double>(plan.ranks) * (columns - 1) / columns * bytes;
        }
        double decoded_s = arrived_s;
        for (const double bytes : exchanged(world, split.rows)) {
            arrived_s += allreduce_s(columns, bytes / 2);
            decoded_s = std::max(decoded_s, arrived_s) + 1.5 * bytes / 1e9;
        }
        plan.compression.kind = Compression::Kind::fp16;
        CAPTURE(split.rows, split.columns);
        const Result half = simulate(lower(world.cluster, world.model, plan));
        // A layer is encoded beside the exchange of its inputs' gradients, the last one, which has none, after it.
        CHECK(half.time.iteration_s > decoded_s);
        CHECK(half.time.iteration_s <= (1 + 1e-9) * (decoded_s + encoding_s));
        CHECK(static_cast<double>(half.bytes_sent) == Approx(sent).epsilon(1e-9));
    }
}

TEST_CASE("every layout: across iterations only a layer's own exchange delays its next forward pass", "[memory]") {
    std::mt19937 random(6);
    for (const std::int64_t stages : {1, 3})
        for (const std::int64_t micro_batches : {1, 3}) {
            TimedWorld world = world_of(random, 2 * stages, 6, 8);
            // The first layer's passes hide a part of the second one's exchange, of 8 ms.
            world.model.layers[0].parameters = 0;
            world.model.layers[1].parameters = 2'000'000;
            Plan plan = plan_of(2 * stages, micro_batches);
            plan.parallelism.pipeline.stages = stages;
            plan.iterations = 4;
            const double before_s = time_of(world, plan);
            plan.overlap = Overlap::across_iterations;
            Plan alone = plan;  // the same passes, without an exchange
            alone.ranks = stages;
            CAPTURE(stages, micro_batches);
            CHECK(time_of(world, plan) < before_s);
            CHECK(time_of(world, plan) >= (1 - 1e-9) * time_of(world, alone));
        }
}
