#include <vector>

#include "sim/lowering/arrangement.hpp"
#include "tests/catch.hpp"
#include "tests/unit/devices.hpp"
#include "tests/unit/layers.hpp"

// Time of adding the gradients of a microbatch to those before it.

using namespace syncline;
using namespace syncline::test;

namespace {

constexpr double memory_Bps = 1e9, speed = 0.5;

Cluster cluster_of(std::int64_t ranks) {
    Cluster cluster = star_cluster(ranks, 1e9, 0);
    Device& device = cluster.device;
    device.flops_per_s = 1e12;
    device.speed = speed;
    KernelRates& rates = device.kernels.emplace();
    rates.product_flops_per_s = rates.attention_flops_per_s = 1e12;
    rates.memory_Bps = memory_Bps;
    rates.fixed_s = 1e-6;
    return cluster;
}

Model model_in(double element_bytes) {
    Model model;
    model.name = "small";
    model.element_bytes = element_bytes;
    model.layers = {
        feed_forward("feed-forward",
                     FeedForward{.positions = 16, .width = 64, .hidden = 128, .bias = false, .dropout = false}),
        embedding("embedding", Embedding{.vocabulary = 1000, .positions = 16, .width = 64})};
    return model;
}

Plan plan_of(std::int64_t ranks, std::int64_t micro_batches) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = micro_batches;
    plan.compute = ComputeKind::tables;
    plan.parallelism.pipeline.micro_batches = micro_batches;
    return plan;
}

/// Returns the time that the additions add to a microbatch, by layer.
std::vector<double> added_s(const Model& model, Plan plan) {
    const Cluster cluster = cluster_of(plan.ranks);
    plan.accumulation = Accumulation::separate;
    const Arrangement separate = arrange(cluster, model, plan);
    const auto computation = make_compute_model(plan.compute, model, cluster.device);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const LayerTime one = computation->time(i, separate.layers[i].share), &other = separate.layers[i].time;
        CHECK(one.forward_s == other.forward_s);
        CHECK(one.input_gradient_s == other.input_gradient_s);
        seconds.push_back(other.weight_gradient_s - one.weight_gradient_s);
    }
    return seconds;
}

}  // namespace

TEST_CASE("accumulation: a product that adds a gradient reads and writes the buffer", "[memory]") {
    Model model = model_in(2);
    model.precision.gradients = 4;
    Plan plan = plan_of(1, 4);
    plan.accumulation = Accumulation::fused;
    const Arrangement fused = arrange(cluster_of(1), model, plan);
    // 64 x 128 weights twice, 8 bytes for each; factors of 16 rows in 2 bytes. Two kernels.
    const double bytes = 2 * (64 * 128 * 8 + 16 * (64 + 128) * 2);
    CHECK(fused.layers[0].time.weight_gradient_s == Approx((bytes / memory_Bps + 2e-6) / speed));
}

TEST_CASE("accumulation: all microbatches but the first add gradients to a buffer of their size", "[memory]") {
    for (const double element : {2.0, 4.0})
        for (const std::int64_t micro_batches : {1, 2, 3, 8}) {
            CAPTURE(element, micro_batches);
            const Model model = model_in(element);
            const auto m = static_cast<double>(micro_batches);
            const std::vector<double> added = added_s(model, plan_of(1, micro_batches));
            for (std::size_t i = 0; i < added.size(); ++i) {
                const double bytes = static_cast<double>(model.layers[i].parameters) * 3 * element;
                CHECK(m * added[i] == Approx((m - 1) * bytes / memory_Bps / speed));
            }
        }
}

TEST_CASE("accumulation: every microbatch adds gradients to a buffer of larger elements", "[memory]") {
    for (const bool beside : {false, true})
        for (const std::int64_t micro_batches : {1, 3}) {
            CAPTURE(beside, micro_batches);
            const Model model = model_in(2);
            Plan plan = plan_of(1, micro_batches);
            plan.precision = Precision::mixed();
            if (beside)
                plan.precision.accumulation = 4;
            else
                plan.precision.gradients = 4;
            Model own = model;
            own.precision = plan.precision;
            const std::vector<double> added = added_s(own, plan);
            for (std::size_t i = 0; i < added.size(); ++i)
                CHECK(added[i] ==
                      Approx(static_cast<double>(model.layers[i].parameters) * (2 + 4 + 4) / memory_Bps / speed));
        }
}

TEST_CASE("accumulation: a rank adds up its part of the weights, and its shard if gradients are scattered each time",
          "[memory]") {
    const Model model = model_in(2);
    for (const std::int64_t ranks : {2, 4}) {
        CAPTURE(ranks);
        const std::vector<double> alone = added_s(model, plan_of(1, 4));
        Plan rows = plan_of(ranks, 4), shards = plan_of(ranks, 4), states = plan_of(ranks, 4);
        rows.parallelism.layout.rows = ranks;
        shards.parallelism.sharding = Sharding::parameters;
        states.parallelism.sharding = Sharding::optimizer;
        const std::vector<double> split = added_s(model, rows), shard = added_s(model, shards);
        const std::vector<double> whole = added_s(model, states);
        const auto n = static_cast<double>(ranks);
        for (std::size_t i = 0; i < alone.size(); ++i) {
            CHECK(split[i] == Approx(alone[i] / n));
            CHECK(shard[i] == Approx(alone[i] / n));
            CHECK(whole[i] == Approx(alone[i]));
        }
        // Shards arrive with the buffer's elements: 3 of 4 additions of 3 · 4 bytes, in place of 4 of 2 + 2 · 4. Before
        // that all gradients are converted, 2 + 4 bytes in every microbatch.
        Model wide = model;
        wide.precision.gradients = shards.precision.gradients = 4;
        const std::vector<double> arrived = added_s(wide, shards);
        for (std::size_t i = 0; i < alone.size(); ++i)
            CHECK(arrived[i] == Approx(alone[i] * (0.75 * 3 * 4 / n + 2 + 4) / (0.75 * 3 * 2)));
    }
}
