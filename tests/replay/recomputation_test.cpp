#include <random>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Activations that are computed again before the backward pass (V. Korthikanti et al., MLSys 2023; T. Chen et al.,
// 2016).

using namespace syncline;

namespace {

constexpr double forward_s = 1, backward_s = 2;  // per sample and layer
constexpr double no_time_Bps = 1e18;

Cluster equal_layers(std::int64_t ranks, const Model& model, double bandwidth_Bps = no_time_Bps) {
    return timed_star(ranks, bandwidth_Bps, 0, model, std::vector<double>(model.layers.size(), forward_s),
                      std::vector<double>(model.layers.size(), backward_s));
}

Plan plan_of(std::int64_t ranks, const Pipeline& pipeline, Recomputation recomputation) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = pipeline.micro_batches;
    plan.compute = ComputeKind::measured;
    plan.iterations = 3;
    plan.algorithm.name = "ring";
    plan.parallelism.pipeline = pipeline;
    plan.recomputation = recomputation;
    return plan;
}

/// Transformer layers of s positions and width h, and nothing else.
Model blocks(std::size_t layers, std::int64_t s, std::int64_t h, std::int64_t heads) {
    Model model;
    model.name = "blocks";
    model.element_bytes = 2;
    for (std::size_t i = 0; i < layers; ++i) {
        model.layers.push_back({fmt::format("attention{}", i), 4 * h * h, s * 4 * h * h + 2 * s * s * h, s * h, s * h,
                                Attention{.positions = s, .width = h, .heads = heads, .scores = Scores::stored}});
        model.layers.push_back(
            {fmt::format("feed-forward{}", i), 8 * h * h, s * 8 * h * h, s * h, s * h, FeedForward{s, h, 4 * h}});
    }
    return model;
}

/// A rank's tasks of one phase, per iteration.
std::size_t tasks_of(const TaskGraph& graph, ProcessId rank, Phase phase) {
    std::size_t count = 0;
    for (const Task& task : graph.tasks()) count += task.phase == phase && graph.streams()[task.stream].process == rank;
    return count;
}

}  // namespace

TEST_CASE("recomputation: equal stages take two forward passes and a backward pass for each microbatch", "[memory]") {
    const auto check = [](const Pipeline& pipeline, const Model& model, double layers) {
        const auto p = static_cast<double>(pipeline.stages), v = static_cast<double>(pipeline.virtual_stages);
        const auto m = static_cast<double>(pipeline.micro_batches);
        CAPTURE(p, m, v, static_cast<int>(pipeline.schedule));
        const Cluster cluster = equal_layers(pipeline.stages, model);
        const Result result = simulate(lower(cluster, model, plan_of(pipeline.stages, pipeline, Recomputation::full)));
        const double chunk_s = layers / (p * v) * (2 * forward_s + backward_s);
        // Interleaved: vm + p - 1 chunks, each a part of a stage.
        CHECK(result.time.iteration_s == Approx((v * m + p - 1) * chunk_s).epsilon(1e-6));
    };
    for (const std::int64_t p : {1, 2, 3, 5})
        for (const std::int64_t m : {1, 2, 4, 7})
            for (const auto schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b}) {
                const auto layers = static_cast<std::size_t>(2 * p);
                check({p, m, 1, schedule, {}}, plain_model(layers, 0, 1), static_cast<double>(layers));
                check({p, m, 1, schedule, {}}, blocks(layers / 2, 4, 8, 2), static_cast<double>(layers));
            }
    for (const std::int64_t p : {2, 3})
        for (const std::int64_t v : {2, 3})
            for (const std::int64_t m : {p, 3 * p})
                check({p, m, v, PipelineSchedule::interleaved, {}}, blocks(static_cast<std::size_t>(p * v), 4, 8, 2),
                      2 * static_cast<double>(p * v));
}

TEST_CASE("recomputation: selective adds the time of scores, softmax, dropout and weighted sum, once per layer",
          "[memory]") {
    constexpr std::int64_t s = 32, h = 24, heads = 4, layers = 4;
    const Model model = blocks(layers, s, h, heads);
    Cluster cluster = star_cluster(2, no_time_Bps, 0);
    cluster.device.flops_per_s = 1e9;
    cluster.device.memory_Bps = 1e9;
    for (const std::int64_t m : {1, 3}) {
        Plan plan = plan_of(2, {2, m, 1, PipelineSchedule::one_f_one_b, {}}, Recomputation::none);
        plan.compute = ComputeKind::roofline;
        const double none_s = simulate(lower(cluster, model, plan)).time.iteration_s;
        plan.recomputation = Recomputation::selective;
        // Per head: two products of 2s²·h/a FLOP, or their s² + 2s·h/a elements of 2 bytes; softmax moves 2s² elements,
        // and the dropout after it as many and a mask.
        const double square = s * s, head = static_cast<double>(h) / heads;
        const double product_s = std::max(2 * square * head, 2 * (square + 2 * s * head)) * heads / 1e9;
        const double core_s = 2 * product_s + (2 * 2 + 2 * 2 + 1) * square * heads / 1e9;
        const double slots = static_cast<double>(m + 1), each = static_cast<double>(layers) / 2;
        CHECK(simulate(lower(cluster, model, plan)).time.iteration_s ==
              Approx(none_s + slots * each * core_s).epsilon(1e-6));
    }
}

TEST_CASE("recomputation: by operator, a block's time grows by that of what is computed again", "[memory]") {
    constexpr std::int64_t s = 32, h = 24, layers = 4;
    Model model;
    model.name = "llama";
    model.element_bytes = 2;
    const Attention half{
        .positions = s, .width = h, .heads = 4, .kv_heads = 2, .bias = false, .norm = Norm::rms, .dropout = false};
    const FeedForward forward{
        .positions = s, .width = h, .hidden = 80, .gated = true, .bias = false, .norm = Norm::rms, .dropout = false};
    for (std::int64_t i = 0; i < layers; ++i) {
        model.layers.push_back(attention("attention", half));
        model.layers.push_back(feed_forward("feed-forward", forward));
    }
    Cluster cluster = star_cluster(2, no_time_Bps, 0);
    cluster.device.flops_per_s = 1e9;
    cluster.device.memory_Bps = unlimited;
    for (const Sharding sharding : {Sharding::none, Sharding::parameters}) {
        Plan plan = plan_of(2, {}, Recomputation::none);
        plan.batch_per_rank = 3;
        plan.compute = ComputeKind::roofline;
        plan.parallelism.sharding = sharding;
        const double none_s = simulate(lower(cluster, model, plan)).time.iteration_s;
        plan.recomputation = Recomputation::operators;
        // Keys of half the heads, the projection, the hidden units beside the gate.
        const double again_s = 2.0 * 3 * s * (h * h / 2 + h * h + h * 80) / 1e9;
        CHECK(simulate(lower(cluster, model, plan)).time.iteration_s ==
              Approx(none_s + layers * again_s).epsilon(1e-6));
    }
}

TEST_CASE("recomputation: rows repeat the exchanges of the forward pass, and no others", "[memory]") {
    constexpr std::int64_t s = 4, h = 8;
    const Model model = blocks(2, s, h, 4);
    const double halves = 4;
    for (const bool sequence : {false, true}) {
        for (const std::int64_t rows : {2, 4}) {
            CAPTURE(sequence, rows);
            Plan plan = plan_of(rows, {}, Recomputation::none);
            plan.batch_per_rank = 1;
            plan.parallelism.layout.rows = rows;
            plan.parallelism.sequence = sequence;
            plan.overlap = Overlap::none;
            const Cluster cluster = equal_layers(rows, model, 1e6);
            // An allgather or reduce-scatter of all activations sends (rows-1) times their size, an all-reduce twice
            // that. Forward, each half sums up its outputs, and gathers its inputs, if not the first.
            const double gathered = static_cast<double>(rows - 1) * s * h * 2;
            const double forward = sequence ? 2 * halves - 1 : 2 * halves;
            const double backward = sequence ? halves + 2 * (halves - 1) : 2 * (halves - 1);
            const Result none = simulate(lower(cluster, model, plan));
            CHECK(static_cast<double>(none.bytes_sent) == (forward + backward) * gathered);
            for (const Recomputation kind : {Recomputation::selective, Recomputation::operators, Recomputation::full}) {
                plan.recomputation = kind;
                const bool full = kind == Recomputation::full;
                const Result result = simulate(lower(cluster, model, plan));
                CHECK(static_cast<double>(result.bytes_sent) == ((full ? 2 : 1) * forward + backward) * gathered);
                const double gathering_s = gathered / static_cast<double>(rows) / 1e6;
                const double again_s =
                    full ? halves * forward_s / static_cast<double>(rows) + forward * gathering_s : 0;
                CHECK(result.time.iteration_s == Approx(none.time.iteration_s + again_s).epsilon(1e-6));
                REQUIRE(result.closed_form.iteration_time_s);
                CHECK(result.time.iteration_s == Approx(*result.closed_form.iteration_time_s).epsilon(1e-6));
            }
        }
    }
}

TEST_CASE("recomputation: sharded weights are gathered once for the repeated and the backward pass", "[memory]") {
    for (const Model& model : {plain_model(5, 1000, 4), blocks(3, 4, 8, 2)}) {
        for (const std::int64_t m : {1, 2}) {
            Plan plan = plan_of(4, {1, m, 1, PipelineSchedule::one_f_one_b, {}}, Recomputation::full);
            plan.parallelism.sharding = Sharding::parameters;
            const Cluster cluster = equal_layers(4, model);
            const TaskGraph graph = build_iteration(lower(cluster, model, plan));
            const std::size_t passes = model.layers.size() * static_cast<std::size_t>(m);
            for (ProcessId rank = 0; rank < 4; ++rank) {
                CHECK(tasks_of(graph, rank, Phase::weights) == 2 * passes);
                CHECK(tasks_of(graph, rank, Phase::recompute) == passes);
            }
            const double layers = static_cast<double>(model.layers.size());
            CHECK(simulate(lower(cluster, model, plan)).time.iteration_s ==
                  Approx(static_cast<double>(m) * layers * (2 * forward_s + backward_s)).epsilon(1e-6));
        }
    }
}

TEST_CASE("recomputation: gradients that leave early are delayed by it, in the closed form as in the simulation",
          "[memory]") {
    std::mt19937 random(11);
    for (int round = 0; round < 12; ++round) {
        const auto layers = static_cast<std::size_t>(1 + random() % 9);
        const Model model = plain_model(layers, 6 * static_cast<std::int64_t>(1 + random() % 100'000), 4);
        Plan plan = plan_of(3, {}, Recomputation::full);
        plan.batch_per_rank = 1;
        plan.overlap = round % 2 == 0 ? Overlap::wait_free : Overlap::none;
        const Cluster cluster = equal_layers(3, model, 1e5);
        const Result result = simulate(lower(cluster, model, plan));
        REQUIRE(result.closed_form.iteration_time_s);
        CHECK(result.time.iteration_s == Approx(*result.closed_form.iteration_time_s).epsilon(1e-6));
        CHECK(result.time.compute_s == Approx(static_cast<double>(layers) * (2 * forward_s + backward_s)));
    }
}

TEST_CASE("recomputation: hardware FLOP include the repeated passes, model FLOP do not", "[memory]") {
    constexpr std::int64_t s = 16, h = 8, layers = 2;
    const Model model = blocks(layers, s, h, 2);
    Cluster cluster = star_cluster(1, no_time_Bps, 0);
    cluster.device.flops_per_s = 1e9;
    cluster.device.memory_Bps = unlimited;
    Plan plan = plan_of(1, {}, Recomputation::none);
    plan.batch_per_rank = 1;
    plan.compute = ComputeKind::roofline;
    const double dense_flop = 24.0 * s * h * h, core_flop = 4.0 * s * s * h;
    for (const auto& [kind, again] :
         {std::pair{Recomputation::none, 0.0}, std::pair{Recomputation::selective, core_flop},
          std::pair{Recomputation::full, dense_flop + core_flop}}) {
        plan.recomputation = kind;
        const Result result = simulate(lower(cluster, model, plan));
        const double flop = layers * 3 * (dense_flop + core_flop), executed = flop + layers * again;
        REQUIRE(result.utilisation.hardware_flops);
        CHECK(*result.utilisation.model_flops == Approx(flop / 1e9 / result.time.iteration_s));
        CHECK(*result.utilisation.hardware_flops == Approx(executed / 1e9 / result.time.iteration_s));
        // All kernels are bound by computation.
        CHECK(*result.utilisation.hardware_flops == Approx(1).epsilon(1e-6));
    }
}

TEST_CASE(
    "utilisation: a device that computes all the time has a hardware FLOP utilisation of 1, also under a causal mask",
    "[memory]") {
    // One block of width h, s tokens and two samples. Products with weights have 12h² weights: 24sh² FLOP forward,
    // twice as many backward. All scores have 4s²h FLOP forward and 8s²h backward: the model's. Flash attention
    // computes (s+1)/(2s) of the scores under the mask, and 10s²h backward. All is computed at the peak, so that
    // executed FLOP fill the time, in which the model's FLOP may be more.
    constexpr double s = 64, h = 8, peak = 1e9, samples = 2;
    Model model = blocks(1, 64, 8, 2);
    auto& attention = std::get<Attention>(model.layers[0].shape);
    attention.scores = Scores::flash;
    Cluster cluster = star_cluster(1, no_time_Bps, 0);
    cluster.device.flops_per_s = peak;
    cluster.device.memory_Bps = unlimited;
    for (const bool causal : {false, true})
        for (const Recomputation kind : {Recomputation::none, Recomputation::full}) {
            CAPTURE(causal, kind == Recomputation::full);
            attention.causal = causal;
            Plan plan = plan_of(1, {}, kind);
            plan.batch_per_rank = 2;
            plan.compute = ComputeKind::roofline;
            const double seen = causal ? (s + 1) / (2 * s) : 1, again = kind == Recomputation::full ? 1 : 0;
            const double executed = samples * ((3 + again) * 24 * s * h * h + seen * (14 + again * 4) * s * s * h);
            const double needed = samples * 3 * (24 * s * h * h + 4 * s * s * h);
            const Result result = simulate(lower(cluster, model, plan));
            CHECK(result.time.iteration_s == Approx(executed / peak).epsilon(1e-9));
            CHECK(result.utilisation.hardware_flops.value() == Approx(1).epsilon(1e-9));
            CHECK(result.utilisation.model_flops.value() == Approx(needed / executed).epsilon(1e-9));
            CHECK(above_peak_note(result.utilisation, cluster.device) == "");
            if (causal && again == 0) CHECK(result.utilisation.model_flops.value() > 1.1);
        }
}

TEST_CASE("recomputation: folded iterations take as long as message by message", "[memory]") {
    const Model model = blocks(4, 8, 48, 6);
    for (const bool sequence : {false, true}) {
        Plan plan = plan_of(12, {2, 4, 1, PipelineSchedule::one_f_one_b, {}}, Recomputation::full);
        plan.parallelism.layout.rows = 6;
        plan.parallelism.sequence = sequence;
        const Cluster cluster = equal_layers(12, model, 1e5);
        const Result simulated = simulate(lower(cluster, model, plan));
        plan.fidelity = Fidelity::folded;
        const Result folded = simulate(lower(cluster, model, plan));
        CHECK(folded.time.iteration_s == Approx(simulated.time.iteration_s).epsilon(1e-9));
        CHECK(folded.bytes_sent == simulated.bytes_sent);
    }
}
