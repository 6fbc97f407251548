#include <random>

#include "sim/lowering/device_memory.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

Cluster cluster_of(double memory_bytes = unlimited) {
    Cluster cluster = star_cluster(1 << 20, 1e9, 1e-6);
    cluster.device.flops_per_s = 1e12;
    cluster.device.memory_Bps = 1e12;
    cluster.device.memory_bytes = memory_bytes;
    return cluster;
}

Memory memory_of(const Model& model, const Plan& plan) {
    return memory_of(lower(cluster_of(), model, plan));
}

double state_bytes(const Memory& memory) {
    return memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes;
}

/// Returns layers that keep these bytes per sample for each of their backward passes, and have as many parameters.
Model chain_of(const std::vector<std::int64_t>& sizes) {
    Model model;
    model.element_bytes = 1;
    for (const std::int64_t size : sizes) model.layers.push_back({"layer", size, size, size, size});
    return model;
}

Plan pipeline_of(PipelineSchedule schedule, std::int64_t stages, std::int64_t micro_batches, std::int64_t chunks = 1) {
    Plan plan;
    plan.ranks = stages;
    plan.batch_per_rank = micro_batches;
    plan.parallelism.pipeline = {stages, micro_batches, chunks, schedule, {}};
    return plan;
}

Attention stored(std::int64_t s, std::int64_t h, std::int64_t a) {
    return {.positions = s, .width = h, .heads = a, .scores = Scores::stored};
}

/// Layers of a transformer in 16 bits, with stored scores, 12h² parameters in both halves, and V·h in the embedding.
Model transformer(std::int64_t layers, std::int64_t s, std::int64_t h, std::int64_t a, std::int64_t vocabulary) {
    Model model;
    model.element_bytes = 2;
    model.layers.push_back({"embedding", vocabulary * h, 0, s, s * h, Embedding{vocabulary, s, h}});
    for (std::int64_t i = 0; i < layers; ++i) {
        model.layers.push_back({"attention", 4 * h * h, s * 4 * h * h, s * h, s * h, stored(s, h, a)});
        model.layers.push_back({"feed-forward", 8 * h * h, s * 8 * h * h, s * h, s * h, FeedForward{s, h, 4 * h}});
    }
    return model;
}

const std::vector<Sharding> shardings{Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters};

}  // namespace

TEST_CASE("memory of a small network equals a calculation by hand", "[memory]") {
    Model model;
    model.layers = {
        convolution(
            "conv",
            {.channels = 1, .height = 6, .width = 6, .filters = 4, .kernel = {3, 3}, .bias = true, .batch_norm = true}),
        dense("fc", 64, 10, true)};
    Plan plan;
    plan.ranks = 8;
    plan.batch_per_rank = 5;
    // 4·9 weights, 4 biases, 8 of the normalisation; 64·10 and 10 biases; 4 bytes each.
    const double parameters = 48 + 650;
    // An image of 36 and the convolution's 4·16 outputs; the dense layer's 64 inputs.
    const double activations = 5.0 * 4 * (36 + 64 + 64);
    for (const auto& [optimizer, values] :
         {std::pair{Optimizer::sgd, 0}, std::pair{Optimizer::momentum, 1}, std::pair{Optimizer::adam, 2}}) {
        plan.optimizer = optimizer;
        const Memory memory = memory_of(model, plan);
        CHECK(memory.weights_bytes == 4 * parameters);
        CHECK(memory.gradients_bytes == 4 * parameters);
        CHECK(memory.optimizer_bytes == 4 * parameters * values);
        CHECK(memory.activations_bytes == activations);
        CHECK(memory.total_bytes() == 4 * parameters * (2 + values) + activations);
    }
    // In 16 bits there is also a copy of the weights in 32 bits.
    model.element_bytes = 2;
    const Memory mixed = memory_of(model, plan);
    CHECK(mixed.weights_bytes == 2 * parameters);
    CHECK(mixed.optimizer_bytes == 12 * parameters);
    CHECK(mixed.activations_bytes == activations / 2);
}

TEST_CASE("gradients that are not kept take the place of activations, with one microbatch", "[memory]") {
    Model model = chain_of({300, 200});  // one byte for each parameter, and for what a sample keeps
    Plan plan;
    plan.ranks = 1;
    plan.optimizer = Optimizer::sgd;
    plan.saved.gradients = false;
    for (const auto& [batch, left] : {std::pair{1, 0.0}, std::pair{2, 0.0}}) {
        plan.batch_per_rank = batch;
        const Memory memory = memory_of(model, plan);
        CHECK(memory.activations_bytes == batch * 500);
        CHECK(memory.gradients_bytes == left);
        CHECK(memory.total_bytes() == 500 + batch * 500 + memory.optimizer_bytes);
    }
    // Where they are more than the activations, the peak is at the end of the backward pass.
    model.layers[1].parameters = 2000;
    plan.batch_per_rank = 1;
    CHECK(memory_of(model, plan).gradients_bytes == 2300 - 500);
    CHECK(memory_of(model, plan).total_bytes() == 2300 + 2300 + memory_of(model, plan).optimizer_bytes);
    // Those of several microbatches are added up beside the activations.
    plan.batch_per_rank = 2;
    plan.parallelism.pipeline.micro_batches = 2;
    CHECK(memory_of(model, plan).gradients_bytes == 2300);
}

TEST_CASE("autocast keeps the weights that products read", "[memory]") {
    Model model = chain_of({300, 200});
    model.element_bytes = 4;
    Plan plan;
    plan.ranks = 1;
    plan.batch_per_rank = 1;
    const double before = memory_of(model, plan).activations_bytes;
    plan.precision.autocast = true;
    CHECK(memory_of(model, plan).activations_bytes == before + 2 * 500);
}

TEST_CASE("a device's memory is unknown by default, and its last byte counts", "[memory]") {
    const Model model = chain_of({1000});
    Plan plan;
    const double total = memory_of(model, plan).total_bytes();
    CHECK_FALSE(memory_of(model, plan).device_bytes);
    CHECK(memory_of(model, plan).fits());
    CHECK(memory_of(lower(cluster_of(total), model, plan)).fits());
    CHECK_FALSE(memory_of(lower(cluster_of(total - 1), model, plan)).fits());
    CHECK(memory_of(lower(cluster_of(total), model, plan)).device_bytes == total);
}

TEST_CASE("memory that the driver uses is not there for a plan", "[memory]") {
    const Model model = chain_of({100, 200});
    Plan plan;
    plan.batch_per_rank = 1;
    const double total = memory_of(model, plan).total_bytes();
    Cluster cluster = cluster_of(total + 7);
    for (const double reserve : {0.0, 6.0, 7.0, 8.0, 1e9}) {
        cluster.device.reserve_bytes = reserve;
        const Memory memory = memory_of(lower(cluster, model, plan));
        CHECK(memory.total_bytes() == total);
        CHECK(memory.device_bytes == std::max(0.0, total + 7 - reserve));
        CHECK(memory.fits() == (reserve <= 7));
    }
}

TEST_CASE("the loss needs the logits and their softmax at the same time, on the stage that has it", "[memory]") {
    constexpr std::int64_t s = 6, h = 8, vocabulary = 1000;
    Model model = transformer(4, s, h, 2, vocabulary);
    model.layers.push_back(
        dense("head", {.inputs = h, .outputs = vocabulary, .positions = s, .gathered = false, .tied = true}));
    for (const std::int64_t samples : {1, 3}) {
        for (const std::int64_t rows : {1, 2, 4}) {
            Plan plan;
            plan.ranks = plan.parallelism.layout.rows = rows;
            plan.batch_per_rank = samples;
            const double logits = double(s * vocabulary) / double(rows) * double(samples);
            const auto activations = [&](std::optional<double> bytes) {
                plan.saved.logit_bytes = bytes;
                return memory_of(model, plan).activations_bytes;
            };
            // 4 bytes are kept; by default there are the logits, of 2 bytes, besides.
            CHECK(activations(std::nullopt) == activations(4) + 2 * logits);
            CHECK(activations(14) == activations(4) + 10 * logits);
            // In eight chunks there are 14/8 bytes of each.
            CHECK(activations(14) - activations(14.0 / 8) == 14 * 7.0 / 8 * logits);
        }
    }
}

TEST_CASE("the loss does not count where another stage needs more", "[memory]") {
    Model model = transformer(4, 6, 8, 2, 3);
    model.layers.push_back(dense("head", {.inputs = 8, .outputs = 3, .positions = 6, .gathered = false, .tied = true}));
    Plan plan = pipeline_of(PipelineSchedule::one_f_one_b, 2, 2);
    plan.parallelism.pipeline.layers = {8, 2};
    const double first = memory_of(model, plan).activations_bytes;
    plan.saved.logit_bytes = 14;
    CHECK(memory_of(model, plan).activations_bytes == first);
    plan.saved.logit_bytes = 64;
    plan.parallelism.pipeline.layers = {1, 9};
    const double last = memory_of(model, plan).activations_bytes;
    plan.saved.logit_bytes = 4;
    CHECK(memory_of(model, plan).activations_bytes == last - 60 * 6 * 3);
}

TEST_CASE("sharding 7.5 billion parameters among 64 ranks gives the figures published for ZeRO", "[memory]") {
    // S. Rajbhandari et al., SC 2020, figure 1: Adam, mixed precision. There are 75 layers, so the gathered part is
    // known.
    constexpr std::int64_t layer = 100'000'000;
    Model model = chain_of(std::vector<std::int64_t>(75, layer));
    model.element_bytes = 2;
    Plan plan;
    plan.ranks = 64;
    plan.optimizer = Optimizer::adam;
    const std::vector<double> published{120e9, 31.4e9, 16.6e9, 1.9e9};
    for (std::size_t i = 0; i < shardings.size(); ++i) {
        plan.parallelism.sharding = shardings[i];
        // Two layers are gathered, and the gradients of one are whole until they are reduced.
        const double gathered = shardings[i] == Sharding::parameters  ? (2 + 1) * 2.0 * layer * 63 / 64
                                : shardings[i] == Sharding::gradients ? 2.0 * layer * 63 / 64
                                                                      : 0;
        CHECK(std::abs(state_bytes(memory_of(model, plan)) - gathered - published[i]) < 0.05e9);
    }
}

TEST_CASE("activations are those of the microbatches that a schedule holds concurrently", "[memory]") {
    for (const std::int64_t p : {1, 2, 3, 8}) {
        for (const std::int64_t m : {1, 2, 7, 24}) {
            const Model model = chain_of(std::vector<std::int64_t>(static_cast<std::size_t>(2 * p), 100));
            CAPTURE(p, m);
            // A microbatch keeps 200 bytes on a stage. The first stage holds the most.
            CHECK(memory_of(model, pipeline_of(PipelineSchedule::gpipe, p, m)).activations_bytes ==
                  200.0 * static_cast<double>(m));
            CHECK(memory_of(model, pipeline_of(PipelineSchedule::one_f_one_b, p, m)).activations_bytes ==
                  200.0 * static_cast<double>(std::min(p, m)));
        }
        // V. Korthikanti et al., MLSys 2023, section 4.2.3: L·(1 + (p-1)/(p·v)) layers' worth.
        const std::int64_t v = 3;
        const Model model = chain_of(std::vector<std::int64_t>(static_cast<std::size_t>(p * v), 100));
        const Memory memory = memory_of(model, pipeline_of(PipelineSchedule::interleaved, p, 4 * p, v));
        CHECK(memory.activations_bytes == 100.0 * static_cast<double>(p * v + p - 1));
    }
}

TEST_CASE("virtual stages of different sizes are counted in the order of the schedule", "[memory]") {
    // One stage, forward 0, 1, backward 1, forward 0 of the next, backward 0: the first virtual stage twice, or both.
    const auto peak = [](std::int64_t first, std::int64_t second) {
        return memory_of(chain_of({first, second}), pipeline_of(PipelineSchedule::interleaved, 1, 4, 2))
            .activations_bytes;
    };
    CHECK(peak(100, 900) == 1000);
    CHECK(peak(900, 100) == 1800);
}

TEST_CASE("sharded gradients of a virtual stage are whole from its first backward pass to its last one", "[memory]") {
    // Two stages of two virtual stages, layers 0 and 2, 1 and 3, of 100 to 400 bytes; two replicas.
    // With two of them all forward passes come first, and then the backward passes of one virtual stage before those of
    // the other. On the second stage halves of 200 and 400 stay, and the other half of 400 comes and goes. With four
    // microbatches both virtual stages are in use at the same time.
    const Model model = chain_of({100, 200, 300, 400});
    const auto gradients = [&](std::int64_t micro_batches, Overlap overlap, double threshold_bytes, Sharding sharding) {
        Plan plan = pipeline_of(PipelineSchedule::interleaved, 2, micro_batches, 2);
        plan.ranks = 4;
        plan.overlap = overlap;
        plan.fusion.threshold_bytes = threshold_bytes;
        plan.parallelism.sharding = sharding;
        return memory_of(model, plan).gradients_bytes;
    };
    CHECK(gradients(2, Overlap::wait_free, 0, Sharding::gradients) == 100 + 200 + 200);
    CHECK(gradients(4, Overlap::wait_free, 0, Sharding::gradients) == 600);
    CHECK(gradients(2, Overlap::wait_free, 0, Sharding::optimizer) == 600);
    CHECK(gradients(2, Overlap::none, 0, Sharding::gradients) == 600);
    CHECK(gradients(2, Overlap::wait_free, 1e6, Sharding::gradients) == 600);  // both in one bucket
}

TEST_CASE("all figures are those of the stage that needs most memory", "[memory]") {
    Plan plan = pipeline_of(PipelineSchedule::one_f_one_b, 3, 1);
    plan.parallelism.pipeline.layers = {1, 1, 1};
    const Memory memory = memory_of(chain_of({100, 300, 200}), plan);
    CHECK(memory.weights_bytes == 300);
    CHECK(memory.gradients_bytes == 300);
    CHECK(memory.optimizer_bytes == 4 * 300 + 4 * 300);
    CHECK(memory.activations_bytes == 300);
}

TEST_CASE("GPT-3 on 8 tensor ranks fits with 16 stages, and 80 GB are too little for 8", "[memory]") {
    constexpr std::int64_t s = 2048, h = 12288, a = 96, vocabulary = 51200;
    const Model model = transformer(96, s, h, a, vocabulary);
    Plan plan = pipeline_of(PipelineSchedule::one_f_one_b, 16, 16);
    plan.ranks = 8 * 16 * 8;
    plan.parallelism.layout.rows = 8;
    plan.optimizer = Optimizer::adam;
    plan.parallelism.pipeline.layers = std::vector<std::int64_t>(16, 12);
    plan.parallelism.pipeline.layers.front() = 13;
    const Memory memory = memory_of(model, plan);
    const double sh = double(s) * double(h), hh = double(h) * double(h);
    CHECK(memory.weights_bytes == 2 * (6 * 12 * hh + double(vocabulary) * double(h)) / 8);
    CHECK(memory.gradients_bytes == memory.weights_bytes);
    CHECK(memory.optimizer_bytes == 6 * memory.weights_bytes);
    // 16 microbatches of 6 layers of sh(10 + 24/8 + 80/8), and a mask.
    CHECK(memory.activations_bytes == 16 * (6 * 23 * sh + sh));
    plan.parallelism.sequence = true;
    CHECK(memory_of(model, plan).activations_bytes == 16 * (6 * 114 * sh / 8 + sh / 8));

    // Korthikanti et al., figure 1: 8 stages, interleaved by 3, do not fit into an A100.
    Plan published = pipeline_of(PipelineSchedule::interleaved, 8, 64, 3);
    published.ranks = 64;
    published.parallelism.layout.rows = 8;
    published.optimizer = Optimizer::adam;
    published.parallelism.pipeline.layers = std::vector<std::int64_t>(24, 8);
    published.parallelism.pipeline.layers.front() = 9;
    const Memory baseline = memory_of(lower(cluster_of(80e9), model, published));
    CHECK_FALSE(baseline.fits());
    // Equation 5 for the first stage: L/p layers of p microbatches, and (p-1)/(pv) more; and 8 or more masks.
    const double layers = 23 * sh * 96 * (1 + 7.0 / 24);
    CHECK(baseline.activations_bytes >= layers + 8 * sh);
    CHECK(baseline.activations_bytes <= layers + 31 * sh);
}

TEST_CASE("more sharding, rows or sequence ranks never need more memory, nor do more stages, except for activations") {
    std::mt19937 random(5);
    const auto draw = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    for (int round = 0; round < 60; ++round) {
        Model model;
        model.element_bytes = round % 2 == 0 ? 2 : 4;
        const bool tokens = round % 3 == 0;
        for (int i = 0; i < 16; ++i) {
            if (tokens) {
                const std::int64_t s = draw(1, 99), a = draw(1, 12), h = a * draw(1, 9);
                model.layers.push_back({"attention", 4 * h * h + 6 * h, s * h, s * h, s * h, Attention{s, h, a}});
            } else if (draw(0, 1) == 0) {
                model.layers.push_back(convolution("conv", {.channels = draw(1, 9),
                                                            .height = draw(3, 20),
                                                            .width = draw(3, 20),
                                                            .filters = draw(1, 33),
                                                            .kernel = {3, 3},
                                                            .batch_norm = draw(0, 1) == 0}));
            } else {
                model.layers.push_back(dense("fc", draw(1, 200), draw(1, 200), true));
            }
        }
        Plan plan;
        const std::int64_t columns = draw(1, 7);
        plan.batch_per_rank = 8 * columns;
        plan.optimizer = std::vector{Optimizer::sgd, Optimizer::momentum, Optimizer::adam}[std::size_t(draw(0, 2))];
        double before = 1e300, before_rows = 1e300;
        for (const Sharding sharding : shardings) {
            plan.parallelism = {};
            plan.parallelism.sharding = sharding;
            plan.ranks = columns;
            const double total = memory_of(model, plan).total_bytes();
            CHECK(total <= before);
            before = total;
            before_rows = total;
            for (const std::int64_t rows : {2, 3, 4, 8, 32}) {
                plan.parallelism.layout.rows = rows;
                plan.ranks = columns * rows;
                plan.parallelism.sequence = false;
                const double split = memory_of(model, plan).total_bytes();
                CAPTURE(round, rows, columns);
                CHECK(split <= before_rows);
                before_rows = split;
                plan.parallelism.sequence = tokens;
                CHECK(memory_of(model, plan).total_bytes() <= split);
            }
        }
        double before_stages = 1e300, before_gpipe = 1e300;
        for (const std::int64_t stages : {1, 2, 4, 8, 16}) {
            Plan cut = pipeline_of(PipelineSchedule::gpipe, stages, 8);
            cut.parallelism.pipeline.layers.assign(static_cast<std::size_t>(stages), 16 / stages);
            CHECK(memory_of(model, cut).total_bytes() <= before_gpipe);
            before_gpipe = memory_of(model, cut).total_bytes();
            cut.parallelism.pipeline.schedule = PipelineSchedule::one_f_one_b;
            cut.parallelism.pipeline.micro_batches = 1;
            CHECK(memory_of(model, cut).total_bytes() <= before_stages);
            before_stages = memory_of(model, cut).total_bytes();
        }
    }
}

TEST_CASE("memory: gradients are there once more for each exchange that may be in flight when the next one begins") {
    const Model model = chain_of({1000, 500});
    Plan plan;
    plan.ranks = 4;
    plan.saved.gradients = true;
    const double waiting = memory_of(model, plan).gradients_bytes;
    struct Case {
        std::int64_t delay, local_steps;
        double copies;
    };
    for (const auto& [delay, local_steps, copies] :
         {Case{1, 1, 1}, Case{3, 1, 3}, Case{3, 10, 1}, Case{10, 10, 1}, Case{11, 10, 2}, Case{0, 10, 0}}) {
        CAPTURE(delay, local_steps);
        plan.exchange_delay = delay;
        plan.local_steps = local_steps;
        CHECK(memory_of(model, plan).gradients_bytes == waiting + copies * 1500);
    }
}
