#include <algorithm>
#include <cmath>
#include <map>

#include "sim/analysis/experiment.hpp"
#include "sim/explain/explain.hpp"
#include "sim/iteration/alike.hpp"
#include "sim/iteration/forecast.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/work.hpp"
#include "sim/lowering/expert_loads.hpp"
#include "sim/planning/wire_costs.hpp"
#include "sim/workload/experts.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/replay/card_a.hpp"

// Expert parallelism: iterations against sums of kernels and messages by hand (experts.hpp).

using namespace syncline;
using namespace syncline::test;

namespace {

/// An embedding, layers of attention and experts, and a head, whose elements have 4 B.
struct Sparse {
    double s = 64, h = 32, heads = 4, hidden = 96, experts = 8, top_k = 2, vocabulary = 300, layers = 2;
    double shared = 0, shared_hidden = 40, capacity = 0;
    bool gated = true;

    static std::int64_t whole(double number) { return static_cast<std::int64_t>(number); }

    Model model() const {
        Model made;
        made.name = "sparse";
        made.layers.push_back(
            embedding("words", Embedding{.vocabulary = whole(vocabulary), .positions = whole(s), .width = whole(h)}));
        for (int layer = 0; layer < whole(layers); ++layer) {
            made.layers.push_back(
                attention("attention" + std::to_string(layer),
                          Attention{.positions = whole(s), .width = whole(h), .heads = whole(heads)}));
            made.layers.push_back(
                syncline::experts("experts" + std::to_string(layer), Experts{.positions = whole(s),
                                                                             .width = whole(h),
                                                                             .hidden = whole(hidden),
                                                                             .experts = whole(experts),
                                                                             .top_k = whole(top_k),
                                                                             .shared = whole(shared),
                                                                             .shared_hidden = whole(shared_hidden),
                                                                             .gated = gated,
                                                                             .capacity = capacity}));
        }
        made.layers.push_back(dense(
            "head", Dense{.inputs = whole(h), .outputs = whole(vocabulary), .positions = whole(s), .gathered = false}));
        return made;
    }

    double matrices() const { return gated ? 3 : 2; }
    double copies() const { return top_k * (capacity > 0 ? capacity : 1); }
    /// FLOP of one pass of a token through its experts.
    double expert_flop() const { return copies() * matrices() * 2 * h * hidden; }
    double expert_parameters() const { return experts * matrices() * h * hidden; }
    /// FLOP of an iteration for a token, without the experts.
    double rest_flop() const {
        const double around = 3 * 2 * (4 * h * h + h * experts + shared * matrices() * h * shared_hidden);
        return layers * (around + 7 * 2 * s * h) + 3 * 2 * h * vocabulary;
    }
};

CardMachine machine(double link_bps, double alpha_s = 3e-6) {
    return {.F = 1e12, .M = 1e30, .alpha_s = alpha_s, .link_bps = link_bps};
}

Plan expert_plan(std::int64_t ranks, std::int64_t experts) {
    Plan plan = card_plan(ranks, 4);
    plan.compute = ComputeKind::roofline;
    plan.parallelism.layout = {};
    plan.parallelism.experts.ranks = experts;
    return plan;
}

double message_s(const CardMachine& machine, double bytes) {
    return machine.alpha_s + bytes * machine.beta();
}

/// Returns the seconds of the all-reduces of all gradients, layer by layer, by rings.
double gradients_s(const Sparse& net, const CardMachine& machine, double P, double E) {
    const auto ring_s = [&](double parameters, double N) {
        return 2 * (N - 1) * message_s(machine, std::ceil(4 * parameters / N));
    };
    double sum_s = 0;
    for (const Layer& layer : net.model().layers) {
        const double routed = std::holds_alternative<Experts>(layer.shape) ? net.expert_parameters() : 0;
        sum_s += ring_s(static_cast<double>(layer.parameters) - routed, P);
        if (routed > 0 && P > E) sum_s += ring_s(routed / E, P / E);
    }
    return sum_s;
}

}  // namespace

TEST_CASE("experts: with equal loads an iteration is the sum of its kernels, all-to-alls and all-reduces", "[memory]") {
    for (const double link_bps : {1e8, 1e10})
        for (const std::int64_t E : {2, 4, 8})
            for (const std::int64_t columns : {1, 2})
                for (const char* all_to_all : {"direct", "pairwise"}) {
                    CAPTURE(link_bps, E, columns, all_to_all);
                    Sparse net;
                    net.gated = E != 4;
                    net.shared = columns == 1 ? 2 : 0;
                    net.capacity = E == 8 ? 1.25 : 0;
                    Plan plan = expert_plan(E * columns, E);
                    plan.parallelism.algorithms.all_to_all = all_to_all;
                    const CardMachine made = machine(link_bps);
                    const auto N = static_cast<double>(E);
                    const double tokens = 4 * net.s, block = std::ceil(net.copies() * tokens * net.h * 4 / N);
                    const double turn_s = std::string(all_to_all) == "direct" ? message_s(made, (N - 1) * block)
                                                                              : (N - 1) * message_s(made, block);
                    const double expected_s = tokens * (net.rest_flop() + 3 * net.layers * net.expert_flop()) / made.F +
                                              4 * net.layers * turn_s +
                                              gradients_s(net, made, static_cast<double>(plan.ranks), N);
                    const Result result = simulate(lower(made.cluster(plan.ranks), net.model(), plan));
                    CHECK(result.time.iteration_s == Approx(expected_s).epsilon(1e-6));
                    if (plan.parallelism.algorithms.all_to_all == "direct") continue;
                    CAPTURE(result.closed_form.formula);
                    REQUIRE(result.closed_form.iteration_time_s);
                    CHECK(*result.closed_form.iteration_time_s == Approx(result.time.iteration_s).epsilon(1e-6));
                }
}

TEST_CASE("experts: every token is sent to its experts and back, in both passes", "[memory]") {
    const Sparse net;
    const Model model = net.model();
    for (const std::int64_t E : {2, 4})
        for (const double imbalance : {0.0, 0.3})
            for (const std::int64_t micro_batches : {1, 2}) {
                CAPTURE(E, imbalance, micro_batches);
                Plan plan = expert_plan(8, E);
                plan.parallelism.experts.imbalance = imbalance;
                plan.parallelism.pipeline.micro_batches = micro_batches;
                const Result result = simulate(lower(machine(1e9).cluster(8), model, plan));
                const auto N = static_cast<double>(E);
                const double buffers = 8 * net.top_k * 4 * net.s * net.h * 4;
                const double moved = 4 * net.layers * buffers * (N - 1) / N;
                const double routed = net.layers * net.expert_parameters();
                const double gradients = 2 * 7 * 4 * (static_cast<double>(model.parameters()) - routed) +
                                         N * 2 * (8 / N - 1) * 4 * routed / N;
                // Each sender's own part stays, which is 1/E in the mean over senders.
                CHECK(static_cast<double>(result.bytes_sent) == Approx(moved + gradients).epsilon(1e-6));
                // Executed are the model's FLOP, each once, and what flash attention computes again.
                const double again = static_cast<double>(result.samples) * net.layers * 2 * net.s * net.s * net.h;
                CHECK(*result.utilisation.hardware_flops ==
                      Approx(*result.utilisation.model_flops * (1 + again / *result.utilisation.flop)).epsilon(1e-12));
            }
}

TEST_CASE("experts: with unequal loads all wait for the rank with the most tokens", "[memory]") {
    Sparse net;
    net.layers = 1;
    int checked = 0;
    for (const std::int64_t E : {2, 4, 8})
        for (const double imbalance : {0.3, 1.0})
            for (const std::uint64_t seed : {1u, 2u, 3u}) {
                CAPTURE(E, imbalance, seed);
                Plan plan = expert_plan(E, E);
                plan.parallelism.experts.imbalance = imbalance;
                plan.set_seed(seed);
                // The experts are in the third layer.
                const std::vector<double> drawn = expert_loads(8, 2, imbalance, seed, 2);
                std::vector<double> loads(static_cast<std::size_t>(E), 0);
                for (std::size_t expert = 0; expert < 8; ++expert)
                    loads[expert * loads.size() / 8] += drawn[expert] * static_cast<double>(E) / 8;
                std::sort(loads.begin(), loads.end());
                const double most = loads.back(), next = loads[loads.size() - 2];
                // Without latency, ranks begin and end their all-to-alls together.
                const CardMachine made = machine(4e12, 0);
                const auto N = static_cast<double>(E);
                const double tokens = 4 * net.s, pass_s = tokens * net.expert_flop() / made.F;
                const double block_s = most * net.copies() * tokens * net.h * 4 / N * made.beta();
                // The last rank returns its results when all others have returned theirs.
                if ((most - next) * pass_s < N * block_s) continue;
                const double expected_s = tokens * net.rest_flop() / made.F + 3 * most * pass_s +
                                          4 * (N - 1) * block_s + gradients_s(net, made, N, N);
                ++checked;
                const Result result = simulate(lower(made.cluster(E), net.model(), plan));
                CHECK(result.time.iteration_s == Approx(expected_s).epsilon(1e-6));
                CHECK(!result.closed_form.iteration_time_s);
                plan.parallelism.experts.imbalance = 0;
                CHECK(simulate(lower(made.cluster(E), net.model(), plan)).time.iteration_s < result.time.iteration_s);
            }
    CHECK(checked >= 9);
}

TEST_CASE("experts: deduplicated, a token crosses the network once for each node that needs it", "[memory]") {
    // 8 ranks on nodes of 1, 2, 4 or 8 devices, one expert each, two of which a token has.
    const Sparse net;
    const Model model = net.model();
    for (const std::uint32_t g : {1u, 2u, 4u, 8u}) {
        CAPTURE(g);
        const CardMachine made = machine(1e9, 0);
        const double N = 8.0 / g, inside_Bps = 5e9;
        Cluster cluster = made.cluster(static_cast<std::int64_t>(N));
        cluster.node.devices = g;
        cluster.node.links = NodeLinks::crossbar;
        cluster.node.link = {inside_Bps, 0};
        Plan plan = expert_plan(8, 8);
        const Result copies = simulate(lower(cluster, model, plan));
        plan.parallelism.experts.exchange = ExpertExchange::deduplicated;
        // Both experts are on other nodes with probability C(8-g, 2)/C(8, 2) = (8-g)(7-g)/56. A rank's one expert is
        // among a token's two with probability 1/4.
        const double q = 1 - (8.0 - g) * (7.0 - g) / 56, p = 0.25;
        const double elements = 4 * net.s * net.h, turns = 2 * net.layers;  // tokens, and as often results
        const double sent = 8 * turns * elements * ((N - 1) * q + N * (g - 1) * p);
        const double plain = 8 * 2 * turns * net.top_k * elements * 4 * 7 / 8;
        const Result once = simulate(lower(cluster, model, plan));
        CHECK(static_cast<double>(once.bytes_sent) ==
              Approx(static_cast<double>(copies.bytes_sent) - plain + sent * (4 + 4)).epsilon(1e-4));
        // In FP8 tokens have 1 B, and a scale of 4 B for each 128, results still 4 B. Members of a node share its port;
        // what arrives last is passed on inside.
        plan.parallelism.experts.fp8_dispatch = true;
        const Result narrow = simulate(lower(cluster, model, plan));
        const double saved = 4 - (1 + 4.0 / 128);
        CHECK(static_cast<double>(once.bytes_sent - narrow.bytes_sent) == Approx(sent * saved).epsilon(1e-4));
        const double turn_s = elements * saved * ((N - 1) * g * q * made.beta() + (g - 1) * p / inside_Bps);
        CHECK(once.time.iteration_s - narrow.time.iteration_s == Approx(turns * turn_s).epsilon(1e-4));
        if (g == 1) {
            REQUIRE(once.closed_form.iteration_time_s);
            CHECK(*once.closed_form.iteration_time_s == Approx(once.time.iteration_s).epsilon(1e-6));
        }
        plan.fidelity = Fidelity::folded;
        const Result folded = simulate(lower(cluster, model, plan));
        CHECK(folded.time.iteration_s == Approx(narrow.time.iteration_s).epsilon(1e-9));
        CHECK(folded.bytes_sent == narrow.bytes_sent);
    }
}

TEST_CASE("experts: a capacity makes all buffers equal, whatever the loads", "[memory]") {
    Sparse net;
    net.capacity = 1.5;
    Plan plan = expert_plan(8, 4);
    const Result equal = simulate(lower(machine(1e9).cluster(8), net.model(), plan));
    plan.parallelism.experts.imbalance = 0.5;
    const Result drawn = simulate(lower(machine(1e9).cluster(8), net.model(), plan));
    CHECK(drawn.time.iteration_s == equal.time.iteration_s);
    CHECK(drawn.bytes_sent == equal.bytes_sent);
}

TEST_CASE("experts: with sequence parallelism each row sends its positions, and rows gather what arrives", "[memory]") {
    const Sparse net;
    const Model model = net.model();
    for (const std::int64_t rows : {2, 4})
        for (const double imbalance : {0.0, 0.3}) {
            CAPTURE(rows, imbalance);
            const auto N = static_cast<double>(rows);
            Plan plan = expert_plan(4 * rows, 4);
            plan.parallelism.layout.rows = rows;
            plan.parallelism.experts.imbalance = imbalance;
            plan.parallelism.algorithms.all_to_all = "pairwise";
            const Result copies = simulate(lower(machine(1e9).cluster(plan.ranks), model, plan));
            plan.parallelism.sequence = true;
            const Result own = simulate(lower(machine(1e9).cluster(plan.ranks), model, plan));
            // An allgather or a reduce-scatter of every token among the rows of all replicas. Without sequences
            // divided, halves have four of these (two all-reduces), embedding and head two each. Otherwise attention
            // has five (sequence_test.cpp), experts five of K times the size, the embedding two, the head three.
            const double moved = 4 * (N - 1) * 4 * net.s * net.h * 4;
            const double more = moved * (net.layers * (5 + 5 * net.top_k) + 5 - net.layers * 8 - 4);
            // Four all-to-alls, of which three quarters leave a rank, are once those of a replica instead of N times.
            const double fewer = (N - 1) * 4 * net.layers * 4 * net.top_k * 4 * net.s * net.h * 4 * 0.75;
            CHECK(static_cast<double>(own.bytes_sent) - static_cast<double>(copies.bytes_sent) ==
                  Approx(more - fewer).epsilon(1e-3));
            if (imbalance > 0) continue;
            REQUIRE(own.closed_form.iteration_time_s);
            CHECK(*own.closed_form.iteration_time_s == Approx(own.time.iteration_s).epsilon(1e-6));
        }
}

namespace {

/// Ways to cut the ranks of a stage, with fewer expert rows than rows, or all experts on every rank.
struct Cut {
    std::int64_t rows, expert_rows, E, columns;

    std::int64_t ranks() const { return rows * columns; }
    /// Returns the ranks that have the same part of the same experts.
    std::int64_t copies() const { return ranks() / (expert_rows * E); }
};

constexpr Cut cuts[] = {{2, 1, 2, 1}, {2, 1, 4, 2}, {2, 1, 4, 4}, {2, 1, 1, 2}, {4, 1, 8, 2},
                        {4, 2, 1, 1}, {4, 2, 2, 1}, {4, 2, 4, 2}, {4, 2, 2, 4}, {8, 1, 8, 1},
                        {8, 2, 8, 2}, {8, 4, 2, 1}, {2, 2, 1, 1}, {4, 4, 1, 1}};

/// Returns a network whose parts `rows` rows divide evenly.
Sparse even_network(const Cut& one) {
    Sparse net;
    net.vocabulary = 320;
    net.heads = 8;
    net.shared = one.columns == 1 ? 2 : 0;
    net.capacity = one.E == 4 ? 1.25 : 0;
    net.gated = one.expert_rows == 1;
    return net;
}

Plan folded_plan(const Cut& one) {
    Plan plan = expert_plan(one.ranks(), one.E);
    plan.parallelism.layout.rows = one.rows;
    plan.parallelism.experts.model = one.expert_rows;
    plan.parallelism.sequence = true;
    plan.parallelism.algorithms.all_to_all = "pairwise";
    return plan;
}

}  // namespace

TEST_CASE("experts: with fewer expert rows than rows, messages and iteration are the sums of their exchanges",
          "[memory]") {
    for (const Cut& one : cuts) {
        CAPTURE(one.rows, one.expert_rows, one.E, one.columns);
        const Sparse net = even_network(one);
        const Model model = net.model();
        const CardMachine made = machine(1e9);
        const Result result = simulate(lower(made.cluster(one.ranks()), model, folded_plan(one)));
        const auto R = static_cast<double>(one.rows), e = static_cast<double>(one.expert_rows);
        const auto E = static_cast<double>(one.E), columns = static_cast<double>(one.columns);
        const auto n = static_cast<double>(one.ranks()), D = static_cast<double>(one.copies());
        // Bytes of a replica's activations, and of the copies of a row's tokens.
        const double tokens = 4 * net.s, whole = tokens * net.h * 4, copies = net.copies() * whole / R;
        // Attention has five allgathers or reduce-scatters among the rows, and so have shared experts, the embedding
        // two, the head three; experts have five among the expert rows, of what these have received, and four
        // all-to-alls.
        const double among_rows = (net.shared > 0 ? 10 : 5) * net.layers + 5;
        double sent = among_rows * columns * (R - 1) * whole;
        sent += 5 * net.layers * n / e * (e - 1) * e * copies + 4 * net.layers * n * (E - 1) / E * copies;
        double exchanged_s = among_rows * (R - 1) * message_s(made, whole / R);
        exchanged_s += 5 * net.layers * (e - 1) * message_s(made, copies);
        exchanged_s += 4 * net.layers * (E - 1) * message_s(made, copies / E);
        for (const Layer& layer : model.layers) {
            const double routed = std::holds_alternative<Experts>(layer.shape) ? 4 * net.expert_parameters() : 0;
            const double routers = routed > 0 ? (R - 1) * 4 * net.h * net.experts : 0;  // one in each row
            const double rest = 4 * static_cast<double>(layer.parameters) - routed + routers;
            sent += 2 * (columns - 1) * rest + 2 * (D - 1) * routed;
            exchanged_s += 2 * (columns - 1) * message_s(made, rest / R / columns);
            if (routed > 0) exchanged_s += 2 * (D - 1) * message_s(made, routed / n);
        }
        const double computed_s = tokens * (net.rest_flop() + 3 * net.layers * net.expert_flop()) / R / made.F;
        CHECK(static_cast<double>(result.bytes_sent) == Approx(sent).epsilon(1e-4));
        CHECK(result.time.iteration_s == Approx(computed_s + exchanged_s).epsilon(1e-4));
        // All FLOP are executed at the peak, padding of a capacity included.
        CHECK(*result.utilisation.hardware_flops == Approx(computed_s / result.time.iteration_s).epsilon(1e-9));
        REQUIRE(result.closed_form.iteration_time_s);
        CHECK(*result.closed_form.iteration_time_s == Approx(result.time.iteration_s).epsilon(1e-6));
        const Lowered lowered = lower(made.cluster(one.ranks()), model, folded_plan(one));
        planning::WireCosts wires(lowered.cluster, lowered.places);
        CHECK(forecast(lowered, wires).time_s == Approx(result.time.iteration_s).epsilon(1e-6));
    }
}

TEST_CASE("experts: as many expert rows as rows are the same as none", "[memory]") {
    for (const bool sequence : {false, true})
        for (const std::int64_t rows : {1, 2, 4})
            for (const double imbalance : {0.0, 0.3}) {
                if (sequence && rows == 1) continue;
                CAPTURE(sequence, rows, imbalance);
                Plan plan = expert_plan(4 * rows, 4);
                plan.parallelism.layout.rows = rows;
                plan.parallelism.sequence = sequence;
                plan.parallelism.experts.imbalance = imbalance;
                const Result omitted = simulate(lower(machine(1e9).cluster(plan.ranks), Sparse{}.model(), plan));
                plan.parallelism.experts.model = rows;
                const Result written = simulate(lower(machine(1e9).cluster(plan.ranks), Sparse{}.model(), plan));
                CHECK(written.time.iteration_s == omitted.time.iteration_s);
                CHECK(written.bytes_sent == omitted.bytes_sent);
                CHECK(written.memory.total_bytes() == omitted.memory.total_bytes());
            }
}

TEST_CASE(
    "experts: with fewer expert rows than rows, all ranks together have the optimizer's state once, each row that of "
    "its router") {
    for (const Cut& one : cuts)
        for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients, Sharding::parameters})
            for (const double imbalance : {0.0, 0.4}) {
                if (imbalance > 0 && one.E == 1) continue;
                CAPTURE(one.rows, one.expert_rows, one.E, one.columns, static_cast<int>(sharding), imbalance);
                const Sparse net = even_network(one);
                const CardMachine made = machine(1e9);
                Plan plan = folded_plan(one);
                plan.parallelism.sharding = sharding;
                plan.parallelism.experts.imbalance = imbalance;
                const Lowered training = lower(made.cluster(one.ranks()), net.model(), plan);
                CHECK(work_of(training).tasks == static_cast<double>(build_iteration(training).tasks().size()));
                const Result result = simulate(training);
                const double routers = static_cast<double>(one.rows - 1) * net.layers * net.h * net.experts;
                const double state = 4 * (static_cast<double>(net.model().parameters()) + routers);
                CHECK(result.memory.optimizer_bytes == Approx(state / static_cast<double>(one.ranks())).epsilon(1e-3));
                if (imbalance > 0) continue;
                plan.fidelity = Fidelity::folded;
                const Result folded = simulate(lower(made.cluster(one.ranks()), net.model(), plan));
                CHECK(folded.time.iteration_s == Approx(result.time.iteration_s).epsilon(1e-9));
                CHECK(folded.bytes_sent == result.bytes_sent);
            }
}

TEST_CASE("experts: expert rows, context, stages, microbatches and folding go together", "[memory]") {
    Sparse net;
    net.layers = 4;
    for (const std::int64_t expert_rows : {1, 2}) {
        CAPTURE(expert_rows);
        Plan plan = expert_plan(64, 4);
        plan.parallelism.layout = {.rows = 4, .context = 2};
        plan.parallelism.sequence = true;
        plan.parallelism.experts.model = expert_rows;
        plan.parallelism.pipeline.stages = plan.parallelism.pipeline.micro_batches = 2;
        plan.parallelism.sharding = Sharding::optimizer;
        plan.overlap = Overlap::wait_free;
        const Lowered lowered = lower(machine(1e9).cluster(64), net.model(), plan);
        // Of 32 ranks in a stage, 4 rows of 2 parts of a sequence are a replica, and so are the next 8.
        CHECK(alike_ranks(lowered).front() == Rotation{32, 8});
        const Result by_message = simulate(lowered);
        plan.fidelity = Fidelity::folded;
        const Result folded = simulate(lower(machine(1e9).cluster(64), net.model(), plan));
        CHECK(folded.folded.images > 1);
        CHECK(folded.time.iteration_s == Approx(by_message.time.iteration_s).epsilon(1e-6));
        CHECK(folded.bytes_sent == by_message.bytes_sent);
        CHECK(folded.messages == by_message.messages);
    }
}

TEST_CASE("experts: the critical path names how long tokens travel", "[memory]") {
    const Sparse net;
    const CardMachine made = machine(1e9);
    const Plan plan = expert_plan(4, 4);
    const Explanation explained = explain(lower(made.cluster(4), net.model(), plan), {});
    std::map<std::string, double> seconds;
    double sum_s = 0;
    for (const PhaseShare& one : explained.phases) {
        sum_s += seconds[one.phase] = one.seconds;
        CHECK(one.share == Approx(one.seconds / explained.window_s));
    }
    CHECK(sum_s == Approx(explained.window_s));
    // Nothing overlaps: two of each for every layer, of which three quarters leave a rank.
    const double turn_s = message_s(made, 0.75 * net.top_k * 4 * net.s * net.h * 4);
    CHECK(seconds["dispatch"] == Approx(2 * net.layers * turn_s).epsilon(1e-6));
    CHECK(seconds["combine"] == Approx(2 * net.layers * turn_s).epsilon(1e-6));
}

TEST_CASE("experts: an explanation has each layer's gradients, with those of experts apart", "[memory]") {
    const Sparse net;
    const CardMachine made = machine(1e9);
    const Lowered training = lower(made.cluster(4), net.model(), expert_plan(4, 2));
    std::map<std::string, std::size_t> named;
    for (const BucketParts& part : explain(training, {}).buckets)
        if (part.what.starts_with("bucket")) ++named[part.what];
    // Two halves of two layers, the experts of each, embedding and head.
    CHECK(training.buckets.size() == 8);
    CHECK(named.size() == 8);
    for (std::size_t bucket = 0; bucket < training.buckets.size(); ++bucket) {
        const std::string layer = training.model.layers[training.buckets[bucket].layers.front()].name;
        CHECK(named["bucket " + std::to_string(bucket) + " (" + layer + ")"] == 1);
    }
}

TEST_CASE("experts: rows, context, stages and folding go together", "[memory]") {
    Sparse net;
    net.layers = 4;
    for (const double imbalance : {0.0, 0.4}) {
        CAPTURE(imbalance);
        Plan plan = expert_plan(32, 4);
        plan.parallelism.layout = {.rows = 2, .context = 2};
        plan.parallelism.experts.imbalance = imbalance;
        plan.parallelism.pipeline.stages = plan.parallelism.pipeline.micro_batches = 2;
        plan.parallelism.sharding = Sharding::optimizer;
        plan.overlap = Overlap::wait_free;
        const Lowered lowered = lower(machine(1e9).cluster(32), net.model(), plan);
        const PlacedLayer& placed = lowered.arrangement.layers[2];
        REQUIRE(placed.experts);
        CHECK(placed.experts->group == Grouping{4, 2});
        CHECK(placed.experts->replicas == Grouping{2, 8});
        const Result by_message = simulate(lowered);
        plan.fidelity = Fidelity::folded;
        const Result folded = simulate(lower(machine(1e9).cluster(32), net.model(), plan));
        CHECK(folded.time.iteration_s == Approx(by_message.time.iteration_s).epsilon(1e-6));
        CHECK(folded.bytes_sent == by_message.bytes_sent);
        CHECK(folded.messages == by_message.messages);
    }
}

namespace {

/// The state of a layer, or of its experts, that ranks have, and the ranks that share it.
struct Held {
    double bytes;
    double shards, copies;  ///< ranks that divide its state, and groups of them
};

std::vector<Held> held_of(const Sparse& net, double P, double E, double within) {
    std::vector<Held> held;
    for (const Layer& layer : net.model().layers) {
        const bool some = std::holds_alternative<Experts>(layer.shape);
        const double routed = some ? net.expert_parameters() : 0;
        held.push_back({4 * (static_cast<double>(layer.parameters) - routed), within, P / within});
        const double shards = std::max(1.0, within / E);
        if (some && P > E) held.push_back({4 * routed / E, shards, P / E / shards});
        if (some && P == E) held.push_back({4 * routed / E, 1, 1});
    }
    return held;
}

}  // namespace

TEST_CASE("experts: sharded weights are gathered, and their gradients scattered, among ranks with the same experts",
          "[memory]") {
    struct Case {
        std::int64_t P, E, within;  // within: ranks that divide the state
    };
    for (const Case& one : {Case{8, 2, 8}, Case{8, 4, 8}, Case{8, 8, 8}, Case{8, 2, 4}, Case{8, 4, 2}, Case{8, 2, 2}})
        for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
            CAPTURE(one.P, one.E, one.within, static_cast<int>(sharding));
            Sparse net;
            net.layers = 1;
            CardMachine made = machine(1e9);
            made.F = 1e7;  // computation hides what it can
            Plan plan = expert_plan(one.P, one.E);
            plan.parallelism.sharding = sharding;
            if (one.within < one.P) plan.parallelism.shard_ranks = one.within;
            const Lowered training = lower(made.cluster(one.P), net.model(), plan);
            const Result result = simulate(training);
            CHECK(work_of(training).tasks == static_cast<double>(build_iteration(training).tasks().size()));

            const auto P = static_cast<double>(one.P), E = static_cast<double>(one.E);
            const bool gathers = sharding == Sharding::parameters;
            const double tokens = 4 * net.s, turned = net.copies() * tokens * net.h * 4;
            double sent = P * 4 * (E - 1) / E * turned, state = 0, whole = 0, scattered_s = 0;
            std::vector<double> gathers_s, passing;
            for (const Held& held : held_of(net, P, E, static_cast<double>(one.within))) {
                const double rings = gathers ? 3 : 2;
                sent += P / held.shards * (held.shards - 1) * held.bytes * rings;
                sent += P * 2 * (held.copies - 1) / held.copies * held.bytes / held.shards;
                state += held.bytes / held.shards;
                whole += held.bytes;
                passing.push_back(held.bytes - held.bytes / held.shards);
                gathers_s.push_back((held.shards - 1) * message_s(made, held.bytes / held.shards));
                scattered_s += gathers_s.back();
                if (held.copies > 1)
                    scattered_s += 2 * (held.copies - 1) * message_s(made, held.bytes / held.shards / held.copies);
            }
            CHECK(static_cast<double>(result.bytes_sent) == Approx(sent).epsilon(1e-4));
            CHECK(result.memory.optimizer_bytes == Approx(state).epsilon(1e-4));
            // Gradients of one layer, or of its experts, are there before they are reduced. The only block is a unit
            // between the embedding and the head.
            double block = 0;
            for (std::size_t i = 1; i + 1 < passing.size(); ++i) block += passing[i];
            const double unreduced = std::max(gathers ? block : 0, *std::ranges::max_element(passing));
            const double gradients = sharding == Sharding::optimizer ? whole : state + unreduced;
            CHECK(result.memory.gradients_bytes == Approx(gradients).epsilon(1e-4));
            if (gathers && one.within == one.P) {
                // Exposed: the gatherings of the embedding and of attention, all-to-alls, and the scattered gradients;
                // all-to-alls may share links with the other gatherings, which take up to twice their time in all.
                const double compute_s = tokens * (net.rest_flop() + 3 * net.expert_flop()) / made.F;
                const double exposed_s = result.time.iteration_s - compute_s;
                const double least_s =
                    gathers_s[0] + gathers_s[1] + scattered_s + 4 * message_s(made, (E - 1) / E * turned);
                double most_s = least_s;
                for (std::size_t i = 2; i < gathers_s.size(); ++i) most_s += 2 * gathers_s[i];
                CHECK(exposed_s >= least_s * (1 - 1e-4));
                CHECK(exposed_s <= most_s * (1 + 1e-4));
            }
            plan.fidelity = Fidelity::folded;
            const Result folded = simulate(lower(made.cluster(one.P), net.model(), plan));
            CHECK(folded.time.iteration_s == Approx(result.time.iteration_s).epsilon(1e-9));
            CHECK(folded.bytes_sent == result.bytes_sent);
        }
}
