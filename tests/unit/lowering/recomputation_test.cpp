#include "sim/lowering/recomputed_spans.hpp"

#include <cmath>

#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/feasibility.hpp"
#include "sim/workload/experts.hpp"
#include "sim/workload/kept.hpp"
#include "sim/workload/kernels.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/catch.hpp"

// Segments, memory and FLOP of activations that are computed again.

using namespace syncline;

namespace {

constexpr double GiB = 1024.0 * 1024 * 1024;

Cluster cluster_of(std::int64_t nodes = 4096) {
    Cluster cluster = star_cluster(nodes, 1e9, 1e-6);
    cluster.device.flops_per_s = 1e12;
    cluster.device.memory_Bps = unlimited;
    return cluster;
}

Layer attention(std::int64_t s, std::int64_t h, std::int64_t a) {
    return {"attention", 4 * h * h, s * 4 * h * h + 2 * s * s * h,
            s * h,       s * h,     Attention{.positions = s, .width = h, .heads = a, .scores = Scores::stored}};
}

Layer feed_forward(std::int64_t s, std::int64_t h) {
    return {"feed-forward", 8 * h * h, s * 8 * h * h, s * h, s * h, FeedForward{s, h, 4 * h}};
}

/// A GPT in 16 bits, with gradients in 32 bits and the head's weights tied to the embedding's, as Megatron-LM's.
struct Gpt {
    std::int64_t layers, s, h, a, vocabulary = 51200;

    Model model() const {
        Model made;
        made.name = "gpt";
        made.element_bytes = 2;
        made.precision = {.weights = 2, .gradients = 4, .activations = 2, .master = 4};
        made.layers.push_back({"embedding", (vocabulary + s) * h, 0, s, s * h, Embedding{vocabulary, s, h}});
        for (std::int64_t i = 0; i < layers; ++i) {
            made.layers.push_back(attention(s, h, a));
            made.layers.push_back(feed_forward(s, h));
        }
        Dense head{.inputs = h, .outputs = vocabulary, .positions = s};
        head.gathered = false;
        head.tied = true;
        head.norm = Norm::layer;
        made.layers.push_back(dense("head", head));
        return made;
    }
};

Plan adam(Recomputation recomputation, bool sequence) {
    Plan plan;
    plan.ranks = 8;
    plan.optimizer = Optimizer::adam;
    plan.parallelism.layout.rows = 8;
    plan.parallelism.sequence = sequence;
    plan.recomputation = recomputation;
    return plan;
}

/// Checks memory within 10 % of a published figure.
void check_close(double bytes, double published_GiB) {
    CAPTURE(bytes / GiB, published_GiB);
    CHECK(std::abs(bytes / GiB / published_GiB - 1) < 0.1);
}

}  // namespace

TEST_CASE("recomputation: a transformer's segments begin with attention, and leave out its embedding and head",
          "[memory]") {
    const Model model = Gpt{3, 8, 4, 2}.model();  // embedding, attention 1, feed-forward 2, ..., 6, head 7
    CHECK(spans(model, 0, 8) == std::vector<LayerSpan>{{1, 3}, {3, 5}, {5, 7}});
    // A pipeline may cut a layer in two.
    CHECK(spans(model, 0, 2) == std::vector<LayerSpan>{{1, 2}});
    CHECK(spans(model, 2, 8) == std::vector<LayerSpan>{{2, 3}, {3, 5}, {5, 7}});
    CHECK(spans(model, 7, 8).empty());
}

TEST_CASE("recomputation: other models have segments of the square root of their layers", "[memory]") {
    Model model;
    for (std::uint32_t n = 1; n <= 30; ++n) {
        model.layers.push_back(dense("fc", 10, 10, true));
        const auto each = static_cast<std::uint32_t>(std::ceil(std::sqrt(n)));
        std::uint32_t next = 0;
        for (const LayerSpan& segment : spans(model, 0, n)) {
            CHECK(segment.first == next);
            CHECK(segment.end - segment.first <= each);
            next = segment.end;
            if (next < n) CHECK(segment.end - segment.first == each);
        }
        CHECK(next == n);
    }
}

TEST_CASE("recomputation: FLOP are those of the forward pass, or of scores and weighted sum", "[memory]") {
    for (const auto& [s, h, a] : {std::tuple{2048, 12288, 96}, std::tuple{512, 1024, 16}, std::tuple{6, 9, 3}}) {
        const Model model = Gpt{1, s, h, a}.model();
        const double sd = s, hd = h;
        const Share share{.samples = 5, .fraction = 1.0 / 3};
        using enum Recomputation;
        CHECK(recomputed_flop(none, model, 1, share) == 0);
        // Korthikanti et al., appendix A: 4bs²h for scores and weighted sum, 24bsh² for the other products of a layer.
        CHECK(recomputed_flop(selective, model, 1, share) == Approx(5 * 4 * sd * sd * hd / 3));
        CHECK(recomputed_flop(selective, model, 2, share) == 0);
        const double layer = recomputed_flop(full, model, 1, share) + recomputed_flop(full, model, 2, share);
        CHECK(layer == Approx(5 * (24 * sd * hd * hd + 4 * sd * sd * hd) / 3));
        for (const std::uint32_t other : {0u, 3u}) {
            CHECK(recomputed_flop(full, model, other, share) == 0);
            CHECK(recomputed_flop(selective, model, other, share) == 0);
        }
    }
}

TEST_CASE("recomputation: by operator, every second product with weights is executed again, and flash attention is not",
          "[memory]") {
    // Queries, keys, values, projection; gate, hidden units, output: keys, projection and hidden units are computed
    // again, and without a gate nothing of a feed-forward half.
    const auto flop = [](const Model& model, std::uint32_t layer, const Share& share) {
        return recomputed_flop(Recomputation::operators, model, layer, share);
    };
    for (const auto& [h, kv, hidden] : {std::tuple{4096, 1024, 14336}, std::tuple{48, 16, 7}, std::tuple{48, 48, 192}})
        for (const std::int64_t s : {1, 5, 128})
            for (const double part : {1.0, 0.25})
                for (const bool gated : {true, false}) {
                    CAPTURE(h, kv, hidden, s, part, gated);
                    const std::int64_t heads = 12 * 16, size = std::max<std::int64_t>(1, h / heads);
                    Attention half{.positions = s, .width = h, .heads = h / size, .kv_heads = kv / size};
                    half.head_size = size;
                    const FeedForward forward{.positions = s, .width = h, .hidden = hidden, .gated = gated};
                    Model model;
                    model.layers = {syncline::attention("attention", half), syncline::feed_forward("ff", forward),
                                    parallel_block("both", {half, forward})};
                    const Share share{.samples = 3, .fraction = part};
                    const double rows = 3.0 * static_cast<double>(s), wide = static_cast<double>(h);
                    const double keys = wide * static_cast<double>(half.key_heads() * size);
                    const double square = wide * static_cast<double>(half.heads * size);
                    const double units = gated ? wide * hidden : 0;
                    CHECK(flop(model, 0, share) == Approx(2 * rows * part * (keys + square)));
                    CHECK(flop(model, 1, share) == Approx(2 * rows * part * units));
                    // Both halves read the block's input, so that nothing reads the projection's outputs.
                    CHECK(flop(model, 2, share) == Approx(2 * rows * part * (keys + units)));
                    half.scores = Scores::stored;
                    model.layers[0] = syncline::attention("attention", half);
                    const double scores = static_cast<double>(s * s * half.heads * size);
                    CHECK(flop(model, 0, share) ==
                          Approx(2 * 3 * part * (static_cast<double>(s) * (keys + square) + 2 * scores)));
                }
}

TEST_CASE(
    "recomputation: by operator, experts and their router are executed again, of shared experts every second product",
    "[memory]") {
    constexpr std::int64_t s = 6, h = 16, hidden = 24, all = 8, top_k = 3;
    for (const bool gated : {false, true})
        for (const std::int64_t shared : {0, 2})
            for (const double ranks : {1.0, 4.0}) {
                CAPTURE(gated, shared, ranks);
                Model model;
                model.element_bytes = 2;
                model.layers = {experts("moe", {.positions = s,
                                                .width = h,
                                                .hidden = hidden,
                                                .experts = all,
                                                .top_k = top_k,
                                                .shared = shared,
                                                .shared_hidden = 20,
                                                .gated = gated})};
                const Share share{.samples = 5, .experts = 1 / ranks};
                const double matrices = gated ? 3 : 2;
                const double wide = h, own = gated ? static_cast<double>(shared * 20) : 0;
                const double products = wide * all + top_k * matrices * wide * hidden + own * wide;
                CHECK(recomputed_flop(Recomputation::operators, model, 0, share) == Approx(2 * 5.0 * s * products));
                // Kept are the shared experts' gate, or units; and K tokens and results that come from other ranks.
                const double exchanged = ranks > 1 ? 2 * top_k * wide : 0;
                CHECK(kept_by_operator(model, model.layers[0], share) ==
                      Approx(5.0 * s * 2 * (static_cast<double>(shared * 20) + exchanged)));
            }
}

TEST_CASE("recomputation: by operator, latent vectors count as products", "[memory]") {
    // Latent queries, queries, latent keys and values, keys and values, projection: the second and the fourth.
    Attention half{.positions = 4, .width = 64, .heads = 4};
    half.query_rank = 24, half.kv_rank = 20, half.rotary_size = 8;
    Model model;
    model.layers = {attention("attention", half)};
    CHECK(recomputed_flop(Recomputation::operators, model, 0, {}) == 2.0 * 4 * (24 * 4 * (16 + 8) + 20 * 2 * 4 * 16));
    // Without latent queries: queries, latent vector, keys and values, projection.
    half.query_rank = 0;
    model.layers = {attention("attention", half)};
    CHECK(recomputed_flop(Recomputation::operators, model, 0, {}) == 2.0 * 4 * (64 * (20 + 8) + 4 * 16 * 64));
    // Keys and values of another sequence are two products.
    half.kv_rank = 0, half.rotary_size = 0, half.context = 10;
    model.layers = {attention("attention", half)};
    CHECK(recomputed_flop(Recomputation::operators, model, 0, {}) == 2.0 * (10 * 64 * 64 + 4 * 64 * 64));
}

TEST_CASE("recomputation: by operator, rows have latent vectors whole, or their positions of them", "[memory]") {
    Attention half{.positions = 128, .width = 64, .heads = 4};
    half.query_rank = 24, half.kv_rank = 20, half.rotary_size = 8;
    Model model;
    model.element_bytes = 2;
    model.layers = {attention("attention", half)};
    // The block's input, latent queries, latent keys and values with their rotary part, and the projection, which is
    // the fifth product; of each row's heads the sums.
    const double between = 64 + 24 + 28 + 64, sums = 64;
    for (const std::int64_t rows : {1, 2, 4})
        for (const bool sequence : {false, true}) {
            const double t = static_cast<double>(rows);
            CAPTURE(rows, sequence);
            CHECK(kept_by_operator(model, model.layers[0], {.fraction = 1 / t}, sequence ? rows : 1) ==
                  Approx(2 * 128 * (between / (sequence ? t : 1) + sums / t)));
        }
}

TEST_CASE("recomputation: by operator, what is computed again stays for gradients of weights that come later",
          "[memory]") {
    // With ZB-H1 the last stage computes gradients of weights after those of inputs of several microbatches, so that
    // it holds no less than without recomputation.
    const Model model = Gpt{8, 64, 48, 6}.model();
    const auto activations = [&](PipelineSchedule schedule, Recomputation recomputation) {
        Plan plan;
        plan.ranks = 4;
        plan.batch_per_rank = 8;
        plan.recomputation = recomputation;
        plan.parallelism.pipeline = {4, 8, 1, schedule, {5, 4, 4, 5}};
        return memory_of(lower(cluster_of(), model, plan)).activations_bytes;
    };
    const double kept = activations(PipelineSchedule::one_f_one_b, Recomputation::operators);
    CHECK(activations(PipelineSchedule::one_f_one_b, Recomputation::none) > kept);
    CHECK(activations(PipelineSchedule::zero_bubble_h1, Recomputation::operators) > kept);
}

TEST_CASE("recomputation: by operator, rows gather inputs again, even if these would be kept", "[memory]") {
    const Model model = Gpt{2, 64, 48, 8}.model();
    const auto gatherings = [&](Recomputation recomputation, bool kept) {
        Plan plan = adam(recomputation, true);
        plan.saved.gathered = kept;
        std::size_t count = 0;
        const Lowered lowered = lower(cluster_of(), model, plan);
        for (const PlacedLayer& layer : lowered.arrangement.layers) count += layer.exchanges.beside_backward.size();
        return count;
    };
    // Four halves and the head.
    CHECK(gatherings(Recomputation::none, false) == 5);
    CHECK(gatherings(Recomputation::none, true) == 0);
    CHECK(gatherings(Recomputation::operators, false) == 5);
    CHECK(gatherings(Recomputation::operators, true) == 4);
}

TEST_CASE("recomputation: by operator, a block keeps its input, queries, values, sums and gate", "[memory]") {
    for (const std::int64_t rows : {1, 2, 4})
        for (const bool sequence : {false, true})
            for (const double samples : {1.0, 2.0}) {
                CAPTURE(rows, sequence, samples);
                const double s = 128, h = 64, kv = 16, hidden = 160, t = static_cast<double>(rows);
                Attention half{.positions = 128, .width = 64, .heads = 16, .kv_heads = 4};
                const FeedForward forward{.positions = 128, .width = 64, .hidden = 160, .gated = true};
                Model model;
                model.element_bytes = 2;
                model.layers = {attention("attention", half), feed_forward("ff", forward)};
                const auto kept = [&](std::size_t layer) {
                    return kept_by_operator(model, model.layers[layer], {.samples = samples, .fraction = 1 / t},
                                            sequence ? rows : 1);
                };
                CHECK(kept(0) == Approx(2 * samples * s * (h / (sequence ? t : 1) + (h + kv + h) / t)));
                CHECK(kept(1) == Approx(2 * samples * s * hidden / t));
                for (const std::size_t layer : {std::size_t{0}, std::size_t{1}})
                    CHECK(kept(layer) < kept_bytes(model, model.layers[layer], {.samples = samples, .fraction = 1 / t},
                                                   sequence ? rows : 1));
                const ParallelBlock both{half, forward};
                CHECK(kept_by_operator(model, parallel_block("both", both), {.samples = samples, .fraction = 1 / t},
                                       sequence ? rows : 1) == Approx(kept(0) + kept(1)));
            }
}

TEST_CASE("recomputation: flash attention keeps no scores, so that selective recomputation changes nothing for it",
          "[memory]") {
    Model model = Gpt{1, 64, 48, 6}.model();
    model.layers.pop_back();  // the loss would find scores that are kept, but not those that are computed again
    auto& attention = std::get<Attention>(model.layers[1].shape);
    Plan plan = adam(Recomputation::selective, false);
    plan.parallelism.layout.rows = 1;
    plan.ranks = plan.batch_per_rank = 1;
    for (const Scores scores : {Scores::stored, Scores::flash}) {
        attention.scores = scores;
        const bool stored = scores == Scores::stored;
        const LayerTime time = layer_times(model, cluster_of().device, 1, ComputeKind::roofline)[1];
        CHECK((recompute_seconds(Recomputation::selective, model, 1, time) > 0) == stored);
        CHECK((recomputed_flop(Recomputation::selective, model, 1, {}) > 0) == stored);
        plan.recomputation = Recomputation::selective;
        const double selective = memory_of(lower(cluster_of(), model, plan)).activations_bytes;
        plan.recomputation = Recomputation::none;
        // One layer's scores are there again during its backward pass: nothing is saved of a single layer.
        CHECK(selective == memory_of(lower(cluster_of(), model, plan)).activations_bytes);
        CHECK(stores_scores(model) == stored);
    }
}

TEST_CASE("recomputation: parallel blocks begin segments, and experts belong to the attention before them",
          "[memory]") {
    Model model = Gpt{2, 8, 4, 2}.model();
    model.layers[2].shape = Experts{};
    CHECK(spans(model, 0, 6) == std::vector<LayerSpan>{{1, 3}, {3, 5}});
    model.layers[3].shape = ParallelBlock{};
    model.layers[4].shape = ParallelBlock{};
    CHECK(spans(model, 0, 6) == std::vector<LayerSpan>{{1, 3}, {3, 4}, {4, 5}});
}

TEST_CASE("recomputation: the time of the core is that of its FLOP on a device without other limits", "[memory]") {
    constexpr std::int64_t s = 64, h = 48, a = 6;
    const Model model = Gpt{1, s, h, a}.model();
    const Cluster cluster = cluster_of();
    const LayerTime time = layer_times(model, cluster.device, 3, ComputeKind::roofline)[1];
    CHECK(time.core_forward_s == Approx(3 * 4.0 * s * s * h / 1e12));
    CHECK(recompute_seconds(Recomputation::selective, model, 1, time) == time.core_forward_s);
    CHECK(recompute_seconds(Recomputation::full, model, 1, time) == time.forward_s);
    CHECK(recompute_seconds(Recomputation::none, model, 1, time) == 0);
}

TEST_CASE("recomputation: memory of 22 and 175 billion parameters is that published by Korthikanti et al.",
          "[memory]") {
    // V. Korthikanti et al., arXiv 2205.05198, table 3; the figures are those of calculon-ai/calculon,
    // calculon/llm/validation.py, in GiB: parameters with gradients and optimizer, activations without recomputation,
    // and with sequence parallelism and selective recomputation. Gradients are added up in 32 bits, as Megatron-LM
    // does.
    struct Published {
        Gpt gpt;
        std::int64_t stages, chunks, micro_batches, samples;
        double states, none, selective;
        double full_share;  ///< figure 7: inputs of layers alone, of all activations
    };
    for (const Published& run : {Published{{48, 2048, 6144, 64}, 1, 1, 1, 4, 45.56, 59.25, 9.56, 0.076},
                                 Published{{96, 2048, 12288, 96}, 8, 3, 64, 1, 45.56, 66.84, 12.35, 0.087}}) {
        const auto memory = [&](Recomputation recomputation, bool sequence) {
            Plan plan = adam(recomputation, sequence);
            Pipeline& pipeline = plan.parallelism.pipeline;
            plan.ranks = 8 * run.stages;
            plan.batch_per_rank = run.micro_batches * run.samples;
            pipeline.stages = run.stages;
            pipeline.virtual_stages = run.chunks;
            pipeline.micro_batches = run.micro_batches;
            if (run.stages > 1) {
                pipeline.schedule = PipelineSchedule::interleaved;
                pipeline.layers.assign(static_cast<std::size_t>(run.stages * run.chunks),
                                       2 * run.gpt.layers / run.stages / run.chunks);
                ++pipeline.layers.front(), ++pipeline.layers.back();
            }
            return memory_of(lower(cluster_of(), run.gpt.model(), plan));
        };
        const Memory none = memory(Recomputation::none, false);
        check_close(none.weights_bytes + none.gradients_bytes + none.optimizer_bytes, run.states);
        check_close(none.activations_bytes, run.none);
        check_close(memory(Recomputation::selective, true).activations_bytes, run.selective);
        // During a backward pass one layer's activations are there again: 1/48 of those of the 22B model, and 1/96 of
        // (1 + 7/24) times as many in the 175B model, whose first stage holds so many more microbatches.
        const double held = run.stages == 1 ? 1 : 1 + 7.0 / 24;
        const double layer = run.none / held / static_cast<double>(run.gpt.layers);
        check_close(memory(Recomputation::full, false).activations_bytes, run.full_share * run.none + layer);
    }
}

TEST_CASE("recomputation: a chain keeps the inputs of its segments, and one segment's layers", "[memory]") {
    // Nine layers of 100 bytes of input in three segments: 300, and the other inputs of one segment.
    Model model;
    model.element_bytes = 1;
    for (int i = 0; i < 9; ++i) model.layers.push_back({"layer", 100, 100, 100, 100});
    Plan plan;
    plan.batch_per_rank = 1;
    const auto activations = [&] { return memory_of(lower(cluster_of(), model, plan)).activations_bytes; };
    CHECK(activations() == 900);
    plan.recomputation = Recomputation::full;
    CHECK(activations() == 300 + 200);
    // With three microbatches of a pipeline's only stage, all forward passes first: three times the inputs.
    plan.batch_per_rank = 3;
    plan.parallelism.pipeline = {1, 3, 1, PipelineSchedule::gpipe, {}};
    CHECK(activations() == 3 * 300 + 200);
    plan.parallelism.pipeline.schedule = PipelineSchedule::one_f_one_b;
    CHECK(activations() == 300 + 200);
}

TEST_CASE("recomputation: a segment's sharded weights are gathered together, beside those of another", "[memory]") {
    Model model;
    model.element_bytes = 1;
    for (int i = 0; i < 9; ++i) model.layers.push_back({"layer", 400, 100, 100, 100});
    Plan plan;
    plan.ranks = plan.batch_per_rank = 4;
    plan.parallelism.sharding = Sharding::parameters;
    const auto weights = [&] { return memory_of(lower(cluster_of(), model, plan)).weights_bytes; };
    CHECK(weights() == 900 + 2 * 300);
    plan.recomputation = Recomputation::full;
    CHECK(weights() == 900 + 2 * 3 * 300);
}

TEST_CASE("sharded weights of two blocks of a transformer are there at a time, with recomputation and without",
          "[memory]") {
    Model model = Gpt{3, 8, 4, 2}.model();
    model.precision.weights = 1;
    std::vector<double> units;
    for (const Layer& layer : model.layers) {
        if (!std::holds_alternative<FeedForward>(layer.shape)) units.push_back(0);
        units.back() += static_cast<double>(layer.parameters);
    }
    REQUIRE(units.size() + 3 == model.layers.size());
    double all = 0;
    for (const double unit : units) all += unit;
    std::ranges::sort(units, std::greater<>());
    Plan plan;
    plan.ranks = plan.batch_per_rank = 2;
    plan.parallelism.sharding = Sharding::parameters;
    for (const Recomputation recomputation : {Recomputation::none, Recomputation::operators, Recomputation::full}) {
        plan.recomputation = recomputation;
        const double weights = memory_of(lower(cluster_of(), model, plan)).weights_bytes;
        CHECK(weights == Approx((all + units[0] + units[1]) / 2).margin(static_cast<double>(model.layers.size())));
    }
}

TEST_CASE("recomputation: selective needs attention, and times of its scores", "[memory]") {
    Plan plan;
    plan.ranks = 2;
    plan.recomputation = Recomputation::selective;
    Model images;
    images.name = "images";
    images.layers.push_back(dense("fc", 10, 10, true));
    const auto complaints = [&](const Model& model) { return judge(cluster_of(2), model, plan).complaints; };
    REQUIRE(complaints(images).size() == 1);
    CHECK(complaints(images)[0].key == "recomputation");
    CHECK(complaints(images)[0].message == "workload 'images' has no attention whose scores could be recomputed");
    CHECK(complaints(images)[0].hint.find("full") != std::string::npos);
    const Model gpt = Gpt{1, 8, 4, 2}.model();
    CHECK(complaints(gpt).empty());
    plan.recomputation = Recomputation::operators;
    CHECK(complaints(gpt).empty());
    REQUIRE(complaints(images).size() == 1);
    CHECK(complaints(images)[0].message == "workload 'images' has no attention whose products could be recomputed");
    Model mixture = gpt;
    mixture.layers.push_back(experts("moe", {.positions = 8, .width = 4, .hidden = 8, .experts = 2}));
    CHECK(complaints(mixture).empty());
    plan.parallelism.layout.rows = 2;
    REQUIRE(complaints(mixture).size() == 1);
    CHECK(complaints(mixture)[0].message ==
          "layer 'moe': rows would gather tokens once more for what `operators` computes again");
    plan.recomputation = Recomputation::full;
    CHECK(complaints(images).empty());
}
