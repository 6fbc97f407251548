#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"

// Computation that is slower while the same rank exchanges, compared with times worked out by hand.

using namespace syncline;
using namespace syncline::test;

namespace {

/// Runs two layers, the second with this many bytes, on two ranks whose devices keep a fraction of their speed during
/// exchanges: forward 1 ms each, backward 2 ms and then 1 ms, exchanges 4 us and 1 ms per MB.
Result iteration(std::int64_t second_bytes, Overlap overlap, double speed_beside_exchange) {
    Cluster cluster = plain_star(1e9, 2e-6);
    cluster.device.speed_beside_exchange = speed_beside_exchange;
    Model model;
    model.layers = {layer_of(1'000'000, 1000), layer_of(second_bytes, 1000)};
    Plan plan;
    plan.ranks = 2;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    plan.overlap = overlap;
    return simulate(lower(cluster, model, plan));
}

}  // namespace

TEST_CASE("a backward pass concurrent with an exchange runs at the remaining speed of the device") {
    // The second layer's gradient leaves at 4 ms and is delivered at 5.004; until then half of 1.004 ms of the first
    // layer's backward pass is done, so that this ends at 5.502, and its own exchange at 6.506.
    const Result partly = iteration(1'000'000, Overlap::wait_free, 0.5);
    CHECK(partly.time.iteration_s == Approx(6.506e-3).epsilon(1e-9));
    CHECK(partly.time.compute_s == Approx(5.502e-3).epsilon(1e-9));
    CHECK(!partly.closed_form.iteration_time_s);
    // The whole backward pass of the first layer is concurrent with an exchange until 8.004.
    const Result wholly = iteration(4'000'000, Overlap::wait_free, 0.5);
    CHECK(wholly.time.iteration_s == Approx(9.008e-3).epsilon(1e-9));
    CHECK(wholly.time.compute_s == Approx(6e-3).epsilon(1e-9));
    // A fifth of the speed: 0.2 of 1.004 ms done, 0.7992 left.
    const Result fifth = iteration(1'000'000, Overlap::wait_free, 0.2);
    CHECK(fifth.time.iteration_s == Approx((5.004 + 0.7992 + 1.004) * 1e-3).epsilon(1e-9));
}

TEST_CASE("nothing slows down if no computation overlaps exchanges, or if devices keep their speed") {
    const Result after = iteration(1'000'000, Overlap::none, 0.5);
    CHECK(after.time.iteration_s == Approx(7.008e-3).epsilon(1e-9));
    CHECK(after.closed_form.iteration_time_s.value() == Approx(7.008e-3).epsilon(1e-9));
    CHECK(iteration(1'000'000, Overlap::wait_free, 1).time.iteration_s == Approx(6.008e-3).epsilon(1e-9));
}
