#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"

// Computation that is slower while the same rank exchanges, compared with times worked out by hand.

using namespace syncline;
using namespace syncline::test;

namespace {

/// Runs two layers, the second with this many bytes, on two ranks whose devices keep a fraction of their speed during
/// exchanges: forward 1 ms each, backward 2 ms and then 1 ms, exchanges 4 us and 1 ms per MB.
Result iteration(std::int64_t second_bytes, Overlap overlap, const SpeedBesideExchange& speed,
                 ExchangeKind exchange = ExchangeKind::allreduce, const ExchangeMultiprocessors& taken = {},
                 Negotiation negotiation = Negotiation::none) {
    Cluster cluster = plain_star(1e9, 2e-6);
    cluster.device.speed_beside_exchange = speed;
    cluster.device.multiprocessors = 20;
    cluster.transport.exchange_multiprocessors = taken;
    Model model;
    model.layers = {layer_of(1'000'000, 1000), layer_of(second_bytes, 1000)};
    Plan plan;
    plan.ranks = 2;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    plan.overlap = overlap;
    plan.exchange = exchange;
    plan.fusion.negotiation = negotiation;
    return simulate(lower(cluster, model, plan));
}

}  // namespace

TEST_CASE("a backward pass concurrent with an exchange runs at the remaining speed of the device", "[memory]") {
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

TEST_CASE("nothing slows down if no computation overlaps exchanges, or if devices keep their speed", "[memory]") {
    const Result after = iteration(1'000'000, Overlap::none, 0.5);
    CHECK(after.time.iteration_s == Approx(7.008e-3).epsilon(1e-9));
    CHECK(after.closed_form.iteration_time_s.value() == Approx(7.008e-3).epsilon(1e-9));
    CHECK(iteration(1'000'000, Overlap::wait_free, 1).time.iteration_s == Approx(6.008e-3).epsilon(1e-9));
}

TEST_CASE("computation keeps its speed beside messages between hosts", "[memory]") {
    // Buckets are negotiated in microseconds at the start of the iteration, beside the forward pass of 2 ms, and take
    // the same time as without negotiation: see the first test.
    const Result ahead = iteration(1'000'000, Overlap::wait_free, 0.5, ExchangeKind::allreduce, {}, Negotiation::ahead);
    CHECK(ahead.time.iteration_s == Approx(6.506e-3).epsilon(1e-9));
    CHECK(ahead.time.compute_s == Approx(5.502e-3).epsilon(1e-9));
    const Result fast = iteration(1'000'000, Overlap::wait_free, 1, ExchangeKind::allreduce, {}, Negotiation::ahead);
    CHECK(fast.messages > iteration(1'000'000, Overlap::wait_free, 1).messages);
}

TEST_CASE("collectives and messages between pairs leave a speed of their own", "[memory]") {
    SpeedBesideExchange collectives, pairs;
    collectives.of = {0.5, 1};
    pairs.of = {1, 0.5};
    const auto time_s = [](const SpeedBesideExchange& speed, ExchangeKind exchange) {
        return iteration(1'000'000, Overlap::wait_free, speed, exchange).time.iteration_s;
    };
    CHECK(time_s(collectives, ExchangeKind::allreduce) == Approx(6.506e-3).epsilon(1e-9));
    CHECK(time_s(pairs, ExchangeKind::allreduce) == Approx(6.008e-3).epsilon(1e-9));
    const auto served = ExchangeKind::parameter_server;
    // The push of 2 MB over the server's port takes 2.004 ms from 4 ms on, during the whole backward pass of the first
    // layer.
    const auto compute_s = [&](const SpeedBesideExchange& speed) {
        return iteration(1'000'000, Overlap::wait_free, speed, served).time.compute_s;
    };
    CHECK(compute_s(1) == Approx(5e-3).epsilon(1e-9));
    CHECK(compute_s(pairs) == Approx(6e-3).epsilon(1e-9));
    CHECK(compute_s(0.5) == Approx(6e-3).epsilon(1e-9));
    CHECK(compute_s(collectives) == Approx(5e-3).epsilon(1e-9));
}

TEST_CASE("computation keeps the multiprocessors that exchanges leave", "[memory]") {
    ExchangeMultiprocessors half, of_pairs;
    half.of = {10, 0};
    of_pairs.of = {0, 10};
    const auto beside = [](const ExchangeMultiprocessors& taken) {
        return iteration(1'000'000, Overlap::wait_free, 1, ExchangeKind::allreduce, taken);
    };
    CHECK(beside(half).time.iteration_s == Approx(6.506e-3).epsilon(1e-9));
    CHECK(!beside(half).closed_form.iteration_time_s);
    CHECK(beside(of_pairs).time.iteration_s == Approx(6.008e-3).epsilon(1e-9));
    CHECK(beside({}).time.iteration_s == Approx(6.008e-3).epsilon(1e-9));
    // 4 of 20: 0.8 of 1.004 ms done, 0.1968 left.
    ExchangeMultiprocessors fifth;
    fifth.of = {4, 4};
    CHECK(beside(fifth).time.iteration_s == Approx((5.004 + 0.1968 + 1.004) * 1e-3).epsilon(1e-9));
}
