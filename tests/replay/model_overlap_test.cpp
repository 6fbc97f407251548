#include <algorithm>
#include <string>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/work.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/replay/card_a.hpp"

// Exchanges among the rows of transformers that overlap with products (chunked_products.hpp, ModelOverlap): iterations
// against sums and clocks by hand.

using namespace syncline;
using namespace syncline::test;

namespace {

/// Halves of transformers and nothing else, on rows that divide them, and a machine whose memory takes no time.
struct Halves {
    double s = 96, h = 48, heads = 12, hidden = 192, layers = 2, b = 4;
    double P = 2;  ///< rows
    CardMachine machine{.F = 1e12, .M = 1e30, .alpha_s = 3e-6, .link_bps = 1e9};

    Model model() const {
        const auto whole = [](double number) { return static_cast<std::int64_t>(number); };
        Model made;
        made.name = "halves";
        for (int layer = 0; layer < whole(layers); ++layer) {
            made.layers.push_back(
                attention("attention" + std::to_string(layer),
                          Attention{.positions = whole(s), .width = whole(h), .heads = whole(heads)}));
            made.layers.push_back(
                feed_forward("feed-forward" + std::to_string(layer),
                             FeedForward{.positions = whole(s), .width = whole(h), .hidden = whole(hidden)}));
        }
        return made;
    }

    /// The products of a half on a row: those with its inputs, those inside forward and backward, that of its outputs.
    struct Half {
        double in_s, inside_s, inside_backward_s, out_s;

        double forward_s() const { return in_s + inside_s + out_s; }
        double inputs_s() const { return in_s + inside_backward_s + out_s; }
        double weights_s() const { return in_s + out_s; }
    };
    std::vector<Half> halves() const {
        const double tokens = b * s, flop_s = 2 * tokens * h / P / machine.F;
        std::vector<Half> result;
        for (int layer = 0; layer < static_cast<int>(layers); ++layer) {
            // Flash attention: two products of s·s forward, five backward.
            result.push_back({3 * h * flop_s, 2 * s * flop_s, 5 * s * flop_s, h * flop_s});
            result.push_back({hidden * flop_s, 0, 0, hidden * flop_s});
        }
        return result;
    }

    /// Returns the time of a ring's allgather or reduce-scatter of 1/n of the activations between halves.
    double ring_s(double n = 1) const {
        const double bytes = 4 * b * s * h / n;
        return (P - 1) * (machine.alpha_s + bytes / P * machine.beta());
    }

    Plan plan() const {
        Plan made = card_plan(static_cast<std::int64_t>(P), static_cast<std::int64_t>(b));
        made.compute = ComputeKind::roofline;
        return made;
    }
    Result run(const Plan& plan) const { return simulate(lower(machine.cluster(plan.ranks), model(), plan)); }
};

/// Returns the time of an exchange of n chunks of `exchange_s` each and products of n chunks, of which one follows the
/// other.
double chunked_s(double exchange_s, double product_s, double n) {
    return exchange_s + (n - 1) * std::max(exchange_s, product_s / n) + product_s / n;
}

/// Returns the time of an iteration with sequence parallelism and products in n chunks.
double chunked_iteration_s(const Halves& net, double n) {
    const double whole_s = net.ring_s(), chunk_s = net.ring_s(n);
    const auto halves = net.halves();
    double sum_s = 0;
    for (std::size_t i = 0; i < halves.size(); ++i)
        sum_s += (i > 0 ? chunked_s(chunk_s, halves[i].in_s, n) : halves[i].in_s) + halves[i].inside_s +
                 chunked_s(chunk_s, halves[i].out_s, n);
    double device_s = sum_s, wire_s = sum_s;  // when each is free; the last gradients have arrived
    for (std::size_t i = halves.size(); i-- > 0;) {
        const auto& half = halves[i];
        const double around_s = i > 0 ? whole_s : 0;  // the first half's inputs are the model's
        wire_s = std::max(wire_s, device_s);
        for (double chunk = 0; chunk < n; ++chunk) {
            wire_s += chunk_s;
            device_s = std::max(device_s, wire_s) + half.out_s / n;
        }
        device_s += half.inside_backward_s + half.out_s;
        const double gathered_s = device_s + around_s;  // inputs, once more
        device_s += half.in_s;
        wire_s = std::max(gathered_s, device_s) + around_s;  // their gradients
        device_s = std::max(gathered_s, device_s) + half.in_s;
    }
    return std::max(device_s, wire_s);
}

}  // namespace

TEST_CASE("model overlap: what the weights' gradients of the first products do not hide of an all-reduce is exposed",
          "[memory]") {
    Halves net;
    for (const double link_bps : {1e8, 1e9, 5e9, 1e12})
        for (const double P : {2, 3, 6})
            for (const Overlap overlap : {Overlap::none, Overlap::wait_free})
                for (const ModelOverlap way :
                     {ModelOverlap::as_gradients, ModelOverlap::none, ModelOverlap::weight_gradients}) {
                    CAPTURE(link_bps, P, static_cast<int>(overlap), static_cast<int>(way));
                    net.P = P;
                    net.machine.link_bps = link_bps;
                    const bool hidden = way == ModelOverlap::weight_gradients ||
                                        (way == ModelOverlap::as_gradients && overlap == Overlap::wait_free);
                    double sum_s = 0;
                    const auto halves = net.halves();
                    for (std::size_t i = 0; i < halves.size(); ++i) {
                        const double exchange_s = 2 * net.ring_s();
                        sum_s += halves[i].forward_s() + exchange_s + halves[i].inputs_s() + halves[i].weights_s();
                        if (i == 0) continue;  // the model's inputs have no gradients
                        sum_s += hidden ? std::max(0.0, exchange_s - halves[i].in_s) : exchange_s;
                    }
                    Plan plan = net.plan();
                    plan.overlap = overlap;
                    plan.parallelism.model_overlap = way;
                    const Result result = net.run(plan);
                    CHECK(result.time.iteration_s == Approx(sum_s).epsilon(1e-6));
                    CHECK(result.closed_form.iteration_time_s.has_value() == (overlap == Overlap::none && !hidden));
                }
}

TEST_CASE("model overlap: gradients of weights may wait for the backward pass although those of inputs do not",
          "[memory]") {
    Halves net;
    net.machine.link_bps = 1e10;
    Plan plan = net.plan();
    plan.parallelism.model_overlap = ModelOverlap::weight_gradients;
    const double alone_s = net.run(plan).time.iteration_s;
    plan.ranks *= 2;  // two columns
    double exchanges_s = 0;
    for (const Layer& layer : net.model().layers)
        exchanges_s +=
            2 * (net.machine.alpha_s + 4 * static_cast<double>(layer.parameters) / net.P / 2 * net.machine.beta());
    CHECK(net.run(plan).time.iteration_s == Approx(alone_s + exchanges_s).epsilon(1e-5));
}

TEST_CASE("model overlap: allgathers and reduce-scatters in chunks are exchanged beside products") {
    Halves net;
    for (const double link_bps : {1e8, 1e9, 4e9, 2e10, 1e12})  // from all exposed to all overlapped
        for (const double P : {2, 3, 4})
            for (const std::int64_t n : {2, 3, 8}) {
                CAPTURE(link_bps, P, n);
                net.P = P;
                net.machine.link_bps = link_bps;
                Plan plan = net.plan();
                plan.parallelism.sequence = true;
                const std::uint64_t whole_bytes = net.run(plan).bytes_sent;
                plan.parallelism.model_overlap = ModelOverlap::weight_gradients;
                plan.parallelism.model_chunks = n;
                const Result result = net.run(plan);
                CHECK(result.time.iteration_s ==
                      Approx(chunked_iteration_s(net, static_cast<double>(n))).epsilon(1e-6));
                CHECK(result.bytes_sent == whole_bytes);
                CHECK(!result.closed_form.iteration_time_s);
            }
}

TEST_CASE("model overlap: one more layer of a long network, whose exchanges overlap as in Megatron-Core") {
    // With s = h and 4h hidden units a row's products take, in units of 1 ms, forward 3 and 1 in attention, whose core
    // takes 2, and 4 and 4; backward twice that, the core 5: 43. An allgather or a reduce-scatter takes 2.
    Halves net;
    net.s = net.h = 48;
    net.machine.alpha_s = 0;
    net.machine.F = 2 * net.b * net.s * net.h * net.h / net.P / 1e-3;
    net.machine.link_bps = 8 * 4 * net.b * net.s * net.h / net.P / 2e-3;
    const auto layer_ms = [&](bool sequence, std::int64_t chunks, bool gathered = false) {
        Plan plan = net.plan();
        plan.saved.gathered = gathered;
        plan.parallelism.sequence = sequence;
        plan.parallelism.model_overlap = ModelOverlap::weight_gradients;
        plan.parallelism.model_chunks = chunks;
        double iteration_s[2] = {};
        for (const int more : {0, 1}) {
            net.layers = 2 + more;
            iteration_s[more] = net.run(plan).time.iteration_s;
        }
        return 1e3 * (iteration_s[1] - iteration_s[0]);
    };
    // Exposed: four exchanges forward, two allgathers of the outputs' gradients. The inputs are gathered beside their
    // gradients (3 and 4), which are reduced and scattered beside those of the weights (3 and 4).
    CHECK(layer_ms(true, 1) == Approx(43 + 6 * 2).epsilon(1e-6));
    // Inputs that are kept are not gathered, which was overlapped anyway.
    CHECK(layer_ms(true, 1, true) == Approx(43 + 6 * 2).epsilon(1e-6));
    // Two all-reduces of 4 are exposed forward; backward they overlap with the weights' gradients of 3 and of 4.
    CHECK(layer_ms(false, 1) == Approx(43 + 2 * 4 + 1).epsilon(1e-6));
    // In two chunks of 1 each, four pairs expose one chunk: those with products of 3, 4, 4 forward and 4 backward. The
    // pairs with attention's projection of 1 take an exchange of 2 and half a product: 1.5 longer than the product.
    CHECK(layer_ms(true, 2) == Approx(43 + 4 * 1 + 2 * 1.5).epsilon(1e-6));
    // Inputs gathered for longer (5) than their gradients take: the weights' gradients wait for 2 and 1, and what
    // returns exceeds these by as much; 6 exchanges are exposed.
    net.machine.link_bps *= 2.0 / 5;
    CHECK(layer_ms(true, 1) == Approx(43 + 6 * 5 + 2 * (2 + 1)).epsilon(1e-6));
}

TEST_CASE("model overlap: chunks hide everything but their ends on a fast network", "[memory]") {
    Halves net;
    net.P = 4;
    net.machine.link_bps = 1e12;
    net.machine.alpha_s = 0;
    Plan plan = net.plan();
    plan.parallelism.sequence = true;
    plan.overlap = Overlap::wait_free;
    const double whole_s = net.run(plan).time.iteration_s;
    plan.parallelism.model_overlap = ModelOverlap::weight_gradients;
    plan.parallelism.model_chunks = 4;
    // Four and three exchanges forward, and four of the outputs' gradients backward, expose only one of four chunks
    // each.
    CHECK(whole_s - net.run(plan).time.iteration_s == Approx(11 * 0.75 * net.ring_s()).epsilon(1e-6));
}

TEST_CASE("model overlap: a chunk's product takes what a product of its size takes", "[memory]") {
    Halves net;
    const double latency_s = 1;  // longer than any product: every kernel takes it
    Plan plan = net.plan();
    plan.parallelism.sequence = true;
    Cluster cluster = net.machine.cluster(plan.ranks);
    cluster.device.kernel_latency_s = latency_s;
    const Lowered whole = lower(cluster, net.model(), plan);
    for (const std::int64_t n : {2, 5}) {
        plan.parallelism.model_overlap = ModelOverlap::weight_gradients;
        plan.parallelism.model_chunks = n;
        const Lowered chunked = lower(cluster, net.model(), plan);
        for (std::size_t i = 0; i < net.model().layers.size(); ++i) {
            const LayerTime &before = whole.arrangement.layers[i].time, &after = chunked.arrangement.layers[i].time;
            const double more = static_cast<double>(n - 1) * latency_s;
            CHECK(after.forward_s - before.forward_s == Approx((i > 0 ? 2 : 1) * more));
            CHECK(after.input_gradient_s - before.input_gradient_s == Approx(more));
            CHECK(after.weight_gradient_s == Approx(before.weight_gradient_s));
        }
    }
}

TEST_CASE("model overlap: folding, counts of work and other combinations hold with chunks", "[memory]") {
    Halves net;
    net.layers = 4;
    const Model model = net.model();
    struct Case {
        Recomputation recomputation;
        PipelineSchedule schedule;
        Sharding sharding;
        std::int64_t context;
    };
    for (const Case& one : {Case{Recomputation::full, PipelineSchedule::one_f_one_b, Sharding::none, 1},
                            Case{Recomputation::none, PipelineSchedule::zero_bubble_h1, Sharding::optimizer, 1},
                            Case{Recomputation::none, PipelineSchedule::one_f_one_b, Sharding::parameters, 2},
                            Case{Recomputation::full, PipelineSchedule::gpipe, Sharding::parameters, 1}}) {
        CAPTURE(static_cast<int>(one.recomputation), static_cast<int>(one.schedule), static_cast<int>(one.sharding));
        Plan plan = net.plan();
        plan.ranks = 2 * 2 * 2 * one.context;
        plan.iterations = 3;
        plan.recomputation = one.recomputation;
        plan.parallelism.pipeline = {2, 4, 1, one.schedule, {}};
        plan.parallelism.sharding = one.sharding;
        plan.parallelism.layout.context = one.context;
        plan.parallelism.sequence = true;
        const Cluster cluster = net.machine.cluster(plan.ranks);
        const std::uint64_t whole_bytes = simulate(lower(cluster, model, plan)).bytes_sent;
        plan.parallelism.model_overlap = ModelOverlap::weight_gradients;
        plan.parallelism.model_chunks = 4;
        const Lowered training = lower(cluster, model, plan);
        CHECK(work_of(training).tasks == static_cast<double>(build_iteration(training).tasks().size()));
        const Result simulated = simulate(training);
        CHECK(simulated.bytes_sent == whole_bytes);
        plan.fidelity = Fidelity::folded;
        const Result folded = simulate(lower(cluster, model, plan));
        CHECK(folded.time.iteration_s == Approx(simulated.time.iteration_s).epsilon(1e-9));
        CHECK(folded.bytes_sent == simulated.bytes_sent);
    }
}
