#include <algorithm>
#include <random>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/work.hpp"
#include "sim/lowering/buckets.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"
#include "tests/replay/training_worlds.hpp"
#include "tests/whole_model_buckets.hpp"

// Negotiation ahead of the computation: buckets are cut by size alone, requests travel at the start of the iteration,
// and no tick delays a bucket. Iterations by hand, in milliseconds, and by their recurrence.

using namespace syncline;
using namespace syncline::test;

namespace {

/// Times of a layer whose gradients two ranks exchange by two messages of 1 ms and half of its bytes each, at 1 GB/s.
struct Enqueued {
    double forward_ms, backward_ms, exchange_ms;
};

Result negotiated(const std::vector<Enqueued>& layers, double threshold_bytes, Negotiation negotiation,
                  const Stragglers& stragglers = {}) {
    Model model;
    model.name = "timed";
    std::vector<double> forward_s, backward_s;
    for (const Enqueued& layer : layers) {
        model.layers.push_back(plain_layer(forward_s.size(), std::llround((layer.exchange_ms - 2) * 1e6 / 4), 1000));
        forward_s.push_back(layer.forward_ms * 1e-3);
        backward_s.push_back(layer.backward_ms * 1e-3);
    }
    const Cluster cluster = timed_star(2, 1e9, 0.5e-3, model, forward_s, backward_s);
    Plan plan;
    plan.ranks = 2;
    plan.batch_per_rank = 1;
    plan.compute = ComputeKind::measured;
    plan.input_copy = InputCopy::none;
    plan.fusion = {.threshold_bytes = threshold_bytes, .cycle_s = 50e-3, .negotiation = negotiation};
    plan.noise.stragglers = stragglers;
    return simulate(lower(cluster, model, plan));
}

double negotiated_ms(const Result& result) {
    return 1e3 * result.time.iteration_s;
}

constexpr double request_of_layer_ms = 128e-6;  // of one layer, at 1 GB/s

}  // namespace

TEST_CASE("negotiation: ahead a bucket leaves when its gradients are ready and not at the next tick", "[memory]") {
    // The gradients are ready at 70. On ready they leave at 100, after requests and answers of 1 ms each.
    const std::vector<Enqueued> one{{20, 50, 10}};
    CHECK(negotiated_ms(negotiated(one, 0, Negotiation::none)) == Approx(110).epsilon(1e-9));
    CHECK(negotiated_ms(negotiated(one, 0, Negotiation::on_ready)) ==
          Approx(112 + 2 * request_of_layer_ms).epsilon(1e-9));
    const Result early = negotiated(one, 0, Negotiation::ahead);
    CHECK(negotiated_ms(early) == Approx(80).epsilon(1e-9));
    CHECK(early.closed_form.iteration_time_s.value() == Approx(80e-3).epsilon(1e-9));
    CHECK(early.time.drift < 1e-9);
    // A straggler's gradients are ready at 140, and its requests as early as those of the others.
    CHECK(negotiated_ms(negotiated(one, 0, Negotiation::ahead, {0, {1}, 2})) == Approx(150).epsilon(1e-9));
}

TEST_CASE("negotiation: ahead buckets are filled up to the threshold whenever their gradients are ready", "[memory]") {
    // Gradients at 40 and 60, of 8 MB each. On ready the first leaves at 50, the second at 100.
    const std::vector<Enqueued> two{{10, 20, 10}, {10, 20, 10}};
    CHECK(negotiated_ms(negotiated(two, 1e9, Negotiation::none)) == Approx(110).epsilon(1e-9));
    CHECK(negotiated_ms(negotiated(two, 1e9, Negotiation::ahead)) == Approx(60 + 18).epsilon(1e-9));
    CHECK(negotiated_ms(negotiated(two, 0, Negotiation::ahead)) == Approx(60 + 10).epsilon(1e-9));
}

TEST_CASE("negotiation: ahead it takes time only if the computation is shorter", "[memory]") {
    const std::vector<Enqueued> two{{0.25, 0.25, 10}, {0.25, 0.25, 10}};
    const Result result = negotiated(two, 0, Negotiation::ahead);
    CHECK(negotiated_ms(result) == Approx(2 + 2 * 2 * request_of_layer_ms + 20).epsilon(1e-9));
    CHECK(1e3 * result.closed_form.iteration_time_s.value() == Approx(negotiated_ms(result)).epsilon(1e-9));
    CHECK(result.bytes_sent == 2 * (16'000'000 + 2 * 128));
    CHECK(result.messages == 2 * 2 * 2 + 2);
    // On ready each of the two buckets is negotiated.
    CHECK(negotiated(two, 0, Negotiation::on_ready).messages == 2 * 2 * 2 + 2 * 2);
    CHECK(negotiated(two, 0, Negotiation::none).messages == 2 * 2 * 2);
}

TEST_CASE("negotiation: ahead iterations follow their recurrence in any order with any fusion and partition",
          "[memory]") {
    std::mt19937 random(29);
    for (int round = 0; round < 32; ++round) {
        Plan plan;
        plan.ranks = 2 + static_cast<std::int64_t>(random() % 6);
        plan.batch_per_rank = 1;
        plan.input_copy = InputCopy::none;
        plan.overlap = round % 4 == 0 ? Overlap::none : Overlap::wait_free;
        plan.schedule = round % 3 == 0 ? Schedule::priority : Schedule::fifo;
        plan.fusion = {.threshold_bytes = round % 5 == 0 ? 0 : 400e3,
                       .cycle_s = round % 2 == 0 ? 0.7e-3 : 0,
                       .negotiation = Negotiation::ahead};
        // Blocks of a ring are all alike, so that ranks finish at the same instant.
        const std::int64_t unit = 4 * plan.ranks;
        if (round % 7 < 3)
            plan.partition_bytes = static_cast<double>(unit) * static_cast<double>(500 + random() % 20'000);
        const Model model =
            random_layers(random, 1 + random() % 12, unit, static_cast<std::uint32_t>(200'000 / plan.ranks));
        const double alpha_s = 3e-6, bandwidth_Bps = 1e9;
        const Cluster cluster = plain_star(bandwidth_Bps, alpha_s);
        CAPTURE(round, plan.ranks, plan.partition_bytes);

        const std::vector<LayerTime> times = layer_times(model, cluster.device, 1);
        const std::vector<Bucket> buckets = make_buckets(model, times, 0, plan);
        if (buckets.empty()) continue;
        const auto n = static_cast<double>(plan.ranks);
        double compute_s = 0;
        for (const LayerTime& time : times) compute_s += time.forward_s + time.backward_s();
        std::uint64_t layers = 0;
        for (const Bucket& bucket : buckets) layers += bucket.piece == 0 ? bucket.layers.size() : 0;
        // Requests of 128 B per layer meet on rank 0's link, and so do its answers.
        double end_s = 2 * (alpha_s + (n - 1) * 128 * static_cast<double>(layers) / bandwidth_Bps);
        for (const Bucket& bucket : buckets)
            end_s = std::max(end_s, bucket.ready_s) +
                    2 * (n - 1) * (alpha_s + static_cast<double>(bucket.bytes) / n / bandwidth_Bps);
        const Lowered training = lower(cluster, model, plan);
        const Result result = simulate(training);
        CHECK(result.time.iteration_s == Approx(std::max(end_s, compute_s)).epsilon(1e-7));
        CHECK(result.closed_form.iteration_time_s.value() == Approx(result.time.iteration_s).epsilon(1e-7));
        CHECK(result.bytes_sent ==
              2 * static_cast<std::uint64_t>(plan.ranks - 1) * (model.gradient_bytes() + 128 * layers));
        CHECK(work_of(training).messages == Approx(static_cast<double>(result.messages)));
    }
}
