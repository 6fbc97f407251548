#include <algorithm>
#include <cmath>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/work.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/replay/card_a.hpp"

// Context parallelism: iterations of equal ranks against sums of kernels and messages by hand (context.hpp).

using namespace syncline;
using namespace syncline::test;

namespace {

struct Transformer {
    double s = 96, h = 48, heads = 12, hidden = 120, vocabulary = 500, layers = 3;
    double kv_heads = 12;
    Scores scores = Scores::flash;

    /// Products of as many elements as the scores have, in the backward pass: of a matrix product two factors each, and
    /// the scores once more if they were not stored.
    double backward_products() const { return scores == Scores::flash ? 5 : 4; }

    Model model() const {
        const auto whole = [](double number) { return static_cast<std::int64_t>(number); };
        Model made;
        made.name = "context";
        made.layers.push_back(embedding(
            "embedding", Embedding{.vocabulary = whole(vocabulary), .positions = whole(s), .width = whole(h)}));
        for (int layer = 0; layer < whole(layers); ++layer) {
            made.layers.push_back(attention("attention" + std::to_string(layer), Attention{.positions = whole(s),
                                                                                           .width = whole(h),
                                                                                           .heads = whole(heads),
                                                                                           .kv_heads = whole(kv_heads),
                                                                                           .scores = scores}));
            made.layers.push_back(
                feed_forward("feed-forward" + std::to_string(layer),
                             FeedForward{.positions = whole(s), .width = whole(h), .hidden = whole(hidden)}));
        }
        made.layers.push_back(dense(
            "head", Dense{.inputs = whole(h), .outputs = whole(vocabulary), .positions = whole(s), .gathered = false}));
        return made;
    }
};

/// A machine that only computes: its memory is arbitrarily fast.
CardMachine machine(double link_bps) {
    return {.F = 1e12, .M = 1e30, .alpha_s = 3e-6, .link_bps = link_bps};
}

Plan context_plan(std::int64_t context, std::int64_t columns, ContextExchange exchange) {
    Plan plan = card_plan(context * columns, 4);
    plan.compute = ComputeKind::roofline;
    plan.parallelism.layout = {.context = context};
    plan.parallelism.context_exchange = exchange;
    return plan;
}

/// Returns the seconds of an iteration of N ranks in each context group, b samples of a replica, elements of 4 B.
double iteration_s(const Transformer& net, const CardMachine& machine, const Plan& plan) {
    const auto N = static_cast<double>(plan.parallelism.layout.context), P = static_cast<double>(plan.ranks);
    const auto b = static_cast<double>(plan.batch_per_rank);
    const double tokens = b * net.s / N, keys = net.kv_heads / net.heads;  // per element of the queries
    const auto flop_s = [&](double flop) { return flop / machine.F; };
    const auto message_s = [&](double bytes) { return machine.alpha_s + bytes * machine.beta(); };
    // Forward, and twice that backward: a matrix product for each of its factors.
    double sum_s = 3 * flop_s(2 * tokens * net.h * net.vocabulary);
    sum_s += 3 * net.layers * flop_s(2 * tokens * ((2 + 2 * keys) * net.h * net.h + 2 * net.h * net.hidden));
    const double product_s = flop_s(2 * tokens * net.s * net.h);
    const double core_s = 2 * product_s, core_backward_s = net.backward_products() * product_s;
    if (plan.parallelism.context_exchange == ContextExchange::ring) {
        const double f = core_s / N, g = core_backward_s / N, moved = 2 * tokens * keys * net.h * 4;
        sum_s += net.layers * ((N - 1) * std::max(f, message_s(moved)) + f);
        sum_s += net.layers * (2 * std::max(g, message_s(moved)) + (N - 2) * std::max(g, message_s(2 * moved)));
    } else {
        // One message at a time to each of the others, or all at once.
        const bool pairwise = plan.parallelism.algorithms.all_to_all == "pairwise";
        const auto turn_s = [&](double elements) {
            const double block = std::ceil(elements * 4 / N);
            return pairwise ? (N - 1) * message_s(block) : message_s((N - 1) * block);
        };
        // Queries, outputs and their gradients; keys, values and theirs.
        sum_s += net.layers * (core_s + core_backward_s);
        sum_s += 4 * net.layers * (turn_s(tokens * net.h) + turn_s(tokens * keys * net.h));
    }
    // Gradients of every layer alone, by rings among all ranks.
    for (const Layer& layer : net.model().layers)
        sum_s += 2 * (P - 1) * message_s(std::ceil(4 * static_cast<double>(layer.parameters) / P));
    return sum_s;
}

}  // namespace

TEST_CASE("context: a ring computes a block of scores while keys and values move on", "[memory]") {
    Transformer net;
    for (const double link_bps : {1e8, 2e9, 1e10, 1e12})  // from all exposed to all overlapped
        for (const std::int64_t context : {2, 3, 4, 8})
            for (const std::int64_t columns : {1, 2}) {
                CAPTURE(link_bps, context, columns);
                net.scores = columns == 1 ? Scores::flash : Scores::stored;
                net.kv_heads = context == 3 ? 6 : 12;
                const Plan plan = context_plan(context, columns, ContextExchange::ring);
                const CardMachine made = machine(link_bps);
                const Result result = simulate(lower(made.cluster(plan.ranks), net.model(), plan));
                CHECK(result.time.iteration_s == Approx(iteration_s(net, made, plan)).epsilon(1e-6));
                CAPTURE(result.closed_form.formula);
                REQUIRE(result.closed_form.iteration_time_s);
                CHECK(*result.closed_form.iteration_time_s == Approx(result.time.iteration_s).epsilon(1e-6));
            }
}

TEST_CASE("context: Ulysses turns queries, keys, values and outputs by all-to-alls", "[memory]") {
    Transformer net;
    for (const char* all_to_all : {"direct", "pairwise"})
        for (const double link_bps : {1e8, 1e10})
            for (const std::int64_t context : {2, 3, 4, 6, 12}) {
                net.kv_heads = context < 4 ? 6 : 12;
                CAPTURE(all_to_all, link_bps, context);
                Plan plan = context_plan(context, context < 6 ? 2 : 1, ContextExchange::ulysses);
                plan.parallelism.algorithms.all_to_all = all_to_all;
                const CardMachine made = machine(link_bps);
                const Result result = simulate(lower(made.cluster(plan.ranks), net.model(), plan));
                CHECK(result.time.iteration_s == Approx(iteration_s(net, made, plan)).epsilon(1e-6));
                if (plan.parallelism.algorithms.all_to_all == "direct") continue;  // not known to keep ranks in step
                CAPTURE(result.closed_form.formula);
                REQUIRE(result.closed_form.iteration_time_s);
                CHECK(*result.closed_form.iteration_time_s == Approx(result.time.iteration_s).epsilon(1e-6));
            }
}

TEST_CASE("context: closed forms also hold with rows, sequence parallelism and microbatches", "[memory]") {
    const Transformer net;
    for (const ContextExchange exchange : {ContextExchange::ring, ContextExchange::ulysses})
        for (const bool sequence : {false, true}) {
            Plan plan = context_plan(3, 2, exchange);
            plan.ranks = 12;
            plan.parallelism.layout.rows = 2;
            plan.parallelism.sequence = sequence;
            plan.parallelism.pipeline.micro_batches = 2;
            plan.parallelism.algorithms.all_to_all = "pairwise";
            CAPTURE(sequence, exchange == ContextExchange::ring);
            const Result result = simulate(lower(machine(1e9).cluster(12), net.model(), plan));
            CAPTURE(result.closed_form.formula);
            REQUIRE(result.closed_form.iteration_time_s);
            CHECK(*result.closed_form.iteration_time_s == Approx(result.time.iteration_s).epsilon(1e-6));
            // Overlapped exchanges of gradients hide what the ring does not.
            plan.overlap = Overlap::wait_free;
            const Result overlapped = simulate(lower(machine(1e9).cluster(12), net.model(), plan));
            CHECK(overlapped.bytes_sent == result.bytes_sent);
            CHECK(overlapped.time.iteration_s <= result.time.iteration_s * (1 + 1e-9));
        }
}

TEST_CASE("context: the bytes of keys, values and gradients, and the work of all ranks together", "[memory]") {
    const Transformer net;
    const Model model = net.model();
    const double tokens = 4 * net.s * net.h * 4;  // bytes of one vector of each of a replica's positions
    const Result whole = simulate(lower(machine(1e9).cluster(2), model, context_plan(1, 2, ContextExchange::ring)));
    for (const ContextExchange exchange : {ContextExchange::ring, ContextExchange::ulysses})
        for (const std::int64_t context : {2, 4}) {
            CAPTURE(context, exchange == ContextExchange::ring);
            const Plan plan = context_plan(context, 2, exchange);
            const Result result = simulate(lower(machine(1e9).cluster(plan.ranks), model, plan));
            const auto N = static_cast<double>(context);
            // A ring: keys and values N-1 times forward, and with their gradients 2(N-1) times backward. All-to-alls:
            // each of eight buffers except the rank's own part.
            const double moved =
                exchange == ContextExchange::ring ? 3 * (N - 1) * 2 * tokens : 8 * tokens * (N - 1) / N;
            const double gradients = 2 * (2 * N - 1) * 4 * static_cast<double>(model.parameters());
            CHECK(static_cast<double>(result.bytes_sent) == Approx(2 * net.layers * moved + gradients).epsilon(1e-9));
            // Executed are the model's FLOP, each once, and what flash attention computes again.
            const double again = static_cast<double>(result.samples) * net.layers * 2 * net.s * net.s * net.h;
            CHECK(*result.utilisation.hardware_flops ==
                  Approx(*result.utilisation.model_flops * (1 + again / *result.utilisation.flop)).epsilon(1e-12));
            CHECK(result.samples == whole.samples);
            CHECK(result.memory.activations_bytes * N == Approx(whole.memory.activations_bytes).epsilon(1e-12));
            CHECK(result.memory.weights_bytes == whole.memory.weights_bytes);
            CHECK(result.memory.optimizer_bytes == whole.memory.optimizer_bytes);
        }
}

TEST_CASE("context: pipelines pass on a rank's positions, and folding changes nothing", "[memory]") {
    const Transformer net;
    for (const ContextExchange exchange : {ContextExchange::ring, ContextExchange::ulysses}) {
        Plan plan = context_plan(4, 2, exchange);
        plan.ranks = 16;
        plan.parallelism.pipeline.stages = plan.parallelism.pipeline.micro_batches = 2;
        const Lowered lowered = lower(machine(1e9).cluster(16), net.model(), plan);
        CHECK(lowered.arrangement.boundaries.front().bytes == static_cast<std::uint64_t>(2 * net.s / 4 * net.h * 4));
        const Result by_message = simulate(lowered);
        plan.fidelity = Fidelity::folded;
        const Result folded = simulate(lower(machine(1e9).cluster(16), net.model(), plan));
        CHECK(folded.time.iteration_s == Approx(by_message.time.iteration_s).epsilon(1e-9));
        CHECK(folded.bytes_sent == by_message.bytes_sent);
        CHECK(folded.messages == by_message.messages);
    }
}

TEST_CASE("context: full recomputation repeats the forward pass of each layer, with what moves inside it", "[memory]") {
    Transformer net;
    for (const ContextExchange exchange : {ContextExchange::ring, ContextExchange::ulysses})
        for (const double link_bps : {2e9, 1e12})
            for (const std::int64_t context : {2, 4}) {
                CAPTURE(static_cast<int>(exchange), link_bps, context);
                Plan plan = context_plan(context, 1, exchange);
                const CardMachine made = machine(link_bps);
                const double N = static_cast<double>(context);
                const double tokens = static_cast<double>(plan.batch_per_rank) * net.s / N;
                const auto message_s = [&](double bytes) { return made.alpha_s + bytes * made.beta(); };
                const double core_s = 2 * 2 * tokens * net.s * net.h / made.F, elements = tokens * net.h;
                double layer_s = 2 * tokens * (4 * net.h * net.h + 2 * net.h * net.hidden) / made.F;
                if (exchange == ContextExchange::ring)
                    layer_s += (N - 1) * std::max(core_s / N, message_s(2 * elements * 4)) + core_s / N;
                else  // queries, keys, values and outputs, to all others at once
                    layer_s += core_s + 4 * message_s((N - 1) * std::ceil(elements * 4 / N));
                plan.recomputation = Recomputation::full;
                const Lowered training = lower(made.cluster(plan.ranks), net.model(), plan);
                CHECK(work_of(training).tasks == static_cast<double>(build_iteration(training).tasks().size()));
                const Result result = simulate(training);
                CHECK(result.time.iteration_s ==
                      Approx(iteration_s(net, made, plan) + net.layers * layer_s).epsilon(1e-6));
                // Messages to all others at once have no closed form.
                if (exchange == ContextExchange::ulysses) continue;
                REQUIRE(result.closed_form.iteration_time_s);
                CHECK(*result.closed_form.iteration_time_s == Approx(result.time.iteration_s).epsilon(1e-6));
            }
}
