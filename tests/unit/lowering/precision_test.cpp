#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/lowered.hpp"
#include "tests/catch.hpp"

// Sizes of elements in mixed precision: memory and exchanged bytes, counted by hand. A Precision gives weights,
// gradients, activations and the master copy, in this order.

using namespace syncline;

namespace {

Cluster cluster_of() {
    Cluster cluster = star_cluster(64, 1e9, 1e-6);
    cluster.device.flops_per_s = 1e12;
    cluster.device.memory_Bps = 1e12;
    return cluster;
}

/// 12h² parameters in two halves, and V·h in the embedding.
Model transformer() {
    constexpr std::int64_t s = 32, h = 64, a = 4, vocabulary = 1000;
    Model model;
    model.name = "transformer";
    model.layers.push_back({"embedding", vocabulary * h, 0, s, s * h, Embedding{vocabulary, s, h}});
    model.layers.push_back({"attention", 4 * h * h, s * 4 * h * h, s * h, s * h, Attention{s, h, a}});
    model.layers.push_back({"feed-forward", 8 * h * h, s * 8 * h * h, s * h, s * h, FeedForward{s, h, 4 * h}});
    model.sample_elements = s;
    return model;
}

Plan plan_of(std::int64_t ranks, const Precision& precision) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 4;
    plan.optimizer = Optimizer::adam;
    plan.precision = precision;
    return plan;
}

Memory memory_with(const Precision& precision, double element_bytes = 4) {
    Model model = transformer();
    model.element_bytes = element_bytes;
    return memory_of(lower(cluster_of(), model, plan_of(4, precision)));
}

}  // namespace

TEST_CASE("precision: mixed needs 2 + 2 + 12 bytes per parameter with Adam, as for ZeRO", "[memory]") {
    const auto parameters = static_cast<double>(transformer().parameters());
    const Memory memory = memory_with(Precision::mixed());
    CHECK(memory.weights_bytes == 2 * parameters);
    CHECK(memory.gradients_bytes == 2 * parameters);
    CHECK(memory.optimizer_bytes == 12 * parameters);
    // Both moments of Adam in 2 bytes: 2 + 2 + (4 + 2 + 2).
    Precision narrow = Precision::mixed();
    narrow.moments = 2;
    CHECK(memory_with(narrow).optimizer_bytes == 8 * parameters);
    CHECK(memory_with(narrow).weights_bytes == 2 * parameters);
    // The same as a model of 2-byte elements, and half of the activations of 4-byte elements.
    const Memory uniform = memory_with({}, 2);
    CHECK(memory.weights_bytes == uniform.weights_bytes);
    CHECK(memory.optimizer_bytes == uniform.optimizer_bytes);
    CHECK(memory.activations_bytes == uniform.activations_bytes);
    CHECK(memory.activations_bytes < memory_with({}).activations_bytes);
}

TEST_CASE("precision: each size changes its own part of the memory", "[memory]") {
    const auto parameters = static_cast<double>(transformer().parameters());
    const Memory full = memory_with({});
    const Memory autocast = memory_with({{}, {}, 2, {}});  // weights and gradients stay in 4 bytes
    CHECK(autocast.weights_bytes == full.weights_bytes);
    CHECK(autocast.gradients_bytes == full.gradients_bytes);
    CHECK(autocast.optimizer_bytes == full.optimizer_bytes);
    CHECK(autocast.activations_bytes == memory_with({}, 2).activations_bytes);
    const Memory gradients = memory_with({{}, 2, {}, {}});
    CHECK(gradients.gradients_bytes == 2 * parameters);
    CHECK(gradients.weights_bytes == 4 * parameters);
    CHECK(gradients.activations_bytes == full.activations_bytes);
    // Adam without a master copy keeps two values of a weight's size.
    const Memory pure = memory_with({2, {}, {}, 0});
    CHECK(pure.weights_bytes == 2 * parameters);
    CHECK(pure.optimizer_bytes == 4 * parameters);
    const Memory wide = memory_with({4, {}, {}, 8});
    CHECK(wide.optimizer_bytes == 3 * 8 * parameters);
}

TEST_CASE("precision: gradients are exchanged in their size, gossip in that of the weights", "[memory]") {
    const auto parameters = static_cast<std::uint64_t>(transformer().parameters());
    const auto bytes = [&](const Plan& plan) {
        std::uint64_t sum = 0;
        for (const Bucket& bucket : lower(cluster_of(), transformer(), plan).buckets) sum += bucket.bytes;
        return sum;
    };
    Plan plan = plan_of(8, {1, 2, 3, {}});
    CHECK(bytes(plan) == 2 * parameters);
    CHECK(lower(cluster_of(), transformer(), plan).model.gradient_bytes() == 2 * parameters);
    plan.exchange = ExchangeKind::gossip;
    plan.algorithm = {.operation = "neighbour-exchange", .name = "gossip"};
    CHECK(bytes(plan) == parameters);
    plan.precision = {};
    CHECK(bytes(plan) == 4 * parameters);
}

TEST_CASE("precision: a buffer adds up gradients beside them, and is not exchanged", "[memory]") {
    const double parameters = static_cast<double>(transformer().parameters());
    for (const double buffer : {0.0, 2.0, 4.0, 8.0}) {
        Plan plan = plan_of(8, {2, 2, {}, {}, buffer});
        const Lowered lowered = lower(cluster_of(), transformer(), plan);
        CHECK(memory_of(lowered).gradients_bytes == (2 + buffer) * parameters);
        std::uint64_t exchanged = 0;
        for (const Bucket& bucket : lowered.buckets) exchanged += bucket.bytes;
        CHECK(static_cast<double>(exchanged) == 2 * parameters);
    }
}

TEST_CASE("precision: sharding gathers weights in their size and scatters gradients in theirs", "[memory]") {
    for (const double partition : {0.0, 1000.0}) {
        Plan plan = plan_of(8, {3, 2, {}, {}});
        plan.parallelism.sharding = Sharding::gradients;
        plan.partition_bytes = partition;
        std::uint64_t gradients = 0, weights = 0;
        for (const Bucket& bucket : lower(cluster_of(), transformer(), plan).buckets) {
            gradients += bucket.bytes;
            weights += bucket.weight_bytes;
            if (partition > 0) CHECK(bucket.bytes <= 1000);
        }
        const auto parameters = static_cast<std::uint64_t>(transformer().parameters());
        CHECK(gradients == 2 * parameters);
        CHECK(weights == 3 * parameters);
        const Memory memory = memory_of(lower(cluster_of(), transformer(), plan));
        CHECK(memory.weights_bytes == 3.0 * static_cast<double>(parameters));
        // The embedding's are the most of one layer, whole until they are reduced.
        CHECK(memory.gradients_bytes == 2.0 / 8 * static_cast<double>(parameters) + 2.0 * 7 / 8 * 1000 * 64);
    }
}

TEST_CASE("precision: activations between rows and stages, and the batch's copy, have the activations' size",
          "[memory]") {
    const auto lowered = [](const Precision& precision) {
        Plan plan = plan_of(4, precision);
        plan.parallelism.layout.rows = 2;
        plan.parallelism.pipeline.stages = 2;
        plan.parallelism.pipeline.layers = {2, 1};
        return lower(cluster_of(), transformer(), plan);
    };
    const Lowered full = lowered({}), half = lowered({{}, {}, 2, {}}), other = lowered({2, 2, {}, {}});
    REQUIRE(full.arrangement.boundaries.size() == 1);
    CHECK(full.arrangement.boundaries[0].bytes == 2 * half.arrangement.boundaries[0].bytes);
    CHECK(full.arrangement.boundaries[0].bytes == other.arrangement.boundaries[0].bytes);
    for (std::size_t i = 0; i < full.arrangement.layers.size(); ++i) {
        const auto& before = full.arrangement.layers[i].exchanges.after_forward;
        const auto& after = half.arrangement.layers[i].exchanges.after_forward;
        REQUIRE(before.size() == after.size());
        for (std::size_t j = 0; j < before.size(); ++j) CHECK(before[j].bytes[0] == 2 * after[j].bytes[0]);
        CHECK(full.arrangement.layers[i].time.forward_s == half.arrangement.layers[i].time.forward_s);
        CHECK(full.arrangement.layers[i].time.backward_s() == other.arrangement.layers[i].time.backward_s());
    }
}
