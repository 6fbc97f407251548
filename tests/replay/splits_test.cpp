#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Random combinations of all ways to split a model: no deadlock, passes in order, bytes as counted by hand.

using namespace syncline;

namespace {

constexpr double element_bytes = 4;

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
    }
    template <typename T>
    T of(std::initializer_list<T> choices) {
        return choices.begin()[between(0, static_cast<std::int64_t>(choices.size()) - 1)];
    }

private:
    std::mt19937 random_;
};

/// Returns a model whose sizes and counts are divisible by `parts`.
Model random_model(Draw& draw, std::int64_t parts, std::int64_t least_layers) {
    Model model;
    model.name = "random";
    const std::int64_t layers = draw.between(least_layers, least_layers + 4);
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string name = fmt::format("l{}", i);
        const std::int64_t inputs = draw.between(1, 40), outputs = parts * draw.between(1, 9);
        switch (draw.between(0, 2)) {
            case 0:
                model.layers.push_back(dense(name, inputs, outputs, draw.between(0, 1) == 1));
                break;
            case 1: {
                Convolution conv;
                conv.channels = draw.between(1, 7), conv.filters = outputs;
                conv.height = draw.between(3, 9), conv.width = draw.between(3, 9);
                conv.kernel[0] = conv.kernel[1] = draw.of({1, 3});
                model.layers.push_back(convolution(name, conv));
                break;
            }
            default:
                model.layers.push_back({name, draw.of<std::int64_t>({0, parts * draw.between(1, 5000)}),
                                        draw.between(0, 100'000), inputs, outputs});
        }
    }
    return model;
}

Cluster random_cluster(Draw& draw, std::int64_t ranks) {
    Cluster cluster = star_cluster(ranks, draw.of({1e7, 1e9, 1e11}), draw.of({0.0, 1e-6}));
    cluster.device.flops_per_s = 1e10;
    cluster.device.memory_Bps = 1e10;
    return cluster;
}

Plan random_plan(Draw& draw) {
    Plan plan;
    Parallelism& parallelism = plan.parallelism;
    Pipeline& pipeline = parallelism.pipeline;
    pipeline.stages = draw.between(1, 3);
    pipeline.schedule =
        draw.of({PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved});
    const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved;
    pipeline.virtual_stages = interleaved ? draw.between(1, 2) : 1;
    pipeline.micro_batches = interleaved ? pipeline.stages * draw.between(1, 2) : draw.between(1, 4);
    parallelism.layout.rows = draw.between(1, 4);
    const std::int64_t columns = draw.between(1, 3);
    plan.ranks = pipeline.stages * parallelism.layout.rows * columns;
    plan.batch_per_rank = pipeline.micro_batches * draw.between(1, 3);
    plan.compute = ComputeKind::roofline;
    plan.iterations = 3;
    plan.input_copy = InputCopy::none;
    plan.algorithm.name = "ring";
    plan.overlap = draw.of({Overlap::none, Overlap::wait_free});
    plan.fusion.threshold_bytes = draw.of({0.0, 5e3});
    parallelism.sharding = draw.of({Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters});
    return plan;
}

/// Draws another layout for some consecutive layers: all of a stage's ranks as rows, or none.
void add_range(Draw& draw, const Model& model, Plan& plan) {
    const auto last = static_cast<std::int64_t>(model.layers.size()) - 1;
    const std::int64_t first = draw.between(0, last), end = draw.between(first, last);
    LayerRange range;
    range.first = model.layers[static_cast<std::size_t>(first)].name;
    range.last = model.layers[static_cast<std::size_t>(end)].name;
    range.layout = Layout{};
    const Pipeline& pipeline = plan.parallelism.pipeline;
    // All ranks of a stage have all samples of a microbatch, or a part each.
    if (draw.between(0, 1) == 1)
        range.layout->rows = plan.stage_ranks();
    else
        plan.batch_per_rank = pipeline.micro_batches * plan.stage_ranks();
    plan.parallelism.ranges = {range};
}

/// Returns the bytes that all ranks send in an iteration: a ring's allgather or reduce-scatter of S bytes among N sends
/// (N-1)·S.
double bytes_by_hand(const Model& model, const Plan& plan, const Arrangement& arrangement) {
    const Parallelism& parallelism = plan.parallelism;
    const auto rows = static_cast<double>(parallelism.layout.rows), columns = static_cast<double>(plan.replicas());
    const auto micro_batches = static_cast<double>(parallelism.pipeline.micro_batches);
    const double samples = static_cast<double>(plan.batch_per_rank) / micro_batches;
    double sent = 0;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const Layer& layer = model.layers[i];
        const double outputs = samples * static_cast<double>(layer.activations) * element_bytes;
        const double inputs = samples * static_cast<double>(layer.inputs) * element_bytes;
        const double weights = static_cast<double>(layer.parameters) * element_bytes / rows;
        sent += columns * micro_batches * (rows - 1) * (outputs + (i > 0 ? 2 * inputs : 0));
        // A reduce-scatter of gradients, for each microbatch if they are sharded and there is no pipeline; and
        // allgathers.
        const bool each = parallelism.sharding >= Sharding::gradients && parallelism.pipeline.stages == 1 &&
                          parallelism.pipeline.schedule == PipelineSchedule::one_f_one_b;
        const double gathered = parallelism.sharding == Sharding::parameters ? 2 * micro_batches : 1;
        const double rings = (each ? micro_batches : 1) + gathered;
        sent += rows * rings * (columns - 1) * weights;
        const bool begins = i > 0 && arrangement.layers[i].virtual_stage != arrangement.layers[i - 1].virtual_stage;
        if (begins && parallelism.pipeline.stages > 1) sent += 2 * rows * columns * micro_batches * inputs;
    }
    return sent;
}

/// Returns the numbers of exchanges by which a layer's rows gather what has come from other stages: its inputs, and the
/// gradients of its outputs.
std::pair<std::size_t, std::size_t> gathered_at(const Arrangement& arrangement, std::uint32_t layer) {
    if (arrangement.stages == 1) return {0, 0};
    const std::uint32_t part = arrangement.layers[layer].virtual_stage;
    const auto& boundaries = arrangement.boundaries;
    const bool first = arrangement.first_layer[part] == layer, last = arrangement.first_layer[part + 1] == layer + 1;
    return {first && part > 0 && boundaries[part - 1].activations ? 1 : 0,
            last && part < boundaries.size() && boundaries[part].gradients ? 1 : 0};
}

void check_order(const TaskGraph& graph, const Timeline& timeline, const Arrangement& arrangement) {
    // By rank within its stage, layer, microbatch and direction.
    using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::map<std::pair<Place, Phase>, Interval> passes;
    std::map<Place, std::vector<Interval>> exchanges;
    for (TaskId id = 0; id < graph.tasks().size(); ++id) {
        const Task& task = graph.tasks()[id];
        const Stream& stream = graph.streams()[task.stream];
        const Place place{stream.process % arrangement.stage_ranks, task.subject, task.micro_batch};
        if (stream.kind == StreamKind::activations) exchanges[place].push_back(timeline.measured()[id]);
        // The first part of a backward pass in two parts computes the gradients of the inputs.
        if (task.phase == Phase::forward || task.phase == Phase::backward)
            passes.insert({{place, task.phase}, timeline.measured()[id]});
    }
    const auto layers = static_cast<std::uint32_t>(arrangement.layers.size());
    REQUIRE(passes.size() == std::size_t{2} * layers * arrangement.stage_ranks * arrangement.micro_batches);
    constexpr double rounding_s = 1e-12;
    for (std::uint32_t index = 0; index < arrangement.stage_ranks; ++index) {
        for (std::uint32_t micro_batch = 0; micro_batch < arrangement.micro_batches; ++micro_batch) {
            // Along the model and back, every task that uses the data follows the task that made it.
            double there_s = -1;
            bool in_order = true;
            const auto next = [&](const Interval& interval) {
                in_order = in_order && interval.start_s >= there_s - rounding_s;
                there_s = interval.end_s;
            };
            for (std::uint32_t step = 0; step < 2 * layers; ++step) {
                const bool forward = step < layers;
                const std::uint32_t layer = forward ? step : 2 * layers - 1 - step;
                const LayerExchanges& planned = arrangement.layers[layer].exchanges;
                const Place place{index, layer, micro_batch};
                const std::vector<Interval>& all = exchanges[place];
                const auto [from_below, from_above] = gathered_at(arrangement, layer);
                const std::size_t there = from_below + planned.before_forward.size() + planned.after_forward.size();
                REQUIRE(all.size() ==
                        there + from_above + planned.before_backward.size() + planned.after_backward.size());
                const std::size_t first = forward ? 0 : there, end = forward ? there : all.size();
                const std::size_t before =
                    forward ? from_below + planned.before_forward.size() : from_above + planned.before_backward.size();
                for (std::size_t i = first; i < first + before; ++i) next(all[i]);
                next(passes.at({place, forward ? Phase::forward : Phase::backward}));
                for (std::size_t i = first + before; i < end; ++i) next(all[i]);
            }
            CHECK(in_order);
        }
    }
}

/// Checks, for any split, that all weights are on some rank, and that no iteration is faster than the slowest stage.
void check_bounds(const Model& model, const Arrangement& arrangement, const Breakdown& time) {
    std::vector<double> computed_s(arrangement.stages, 0);
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const PlacedLayer& layer = arrangement.layers[i];
        CHECK(static_cast<double>(layer.layout.rows) * static_cast<double>(layer.bytes) >=
              static_cast<double>(gradient_bytes(model, model.layers[i])));
        computed_s[layer.virtual_stage % arrangement.stages] +=
            arrangement.micro_batches * (layer.time.forward_s + layer.time.backward_s());
    }
    CHECK(time.iteration_s >= *std::max_element(computed_s.begin(), computed_s.end()) * (1 - 1e-9));
    CHECK(time.pipeline_bubble.has_value() == (arrangement.stages > 1));
    if (time.pipeline_bubble) CHECK((*time.pipeline_bubble >= -1e-9 && *time.pipeline_bubble < 1));
}

struct Outcome {
    Breakdown time;
    std::uint64_t bytes_sent = 0;
};

Outcome checked(const Cluster& cluster, const Model& model, const Plan& plan, const Arrangement& arrangement) {
    const TaskGraph graph = build_iteration(lower(cluster, model, plan));
    const Timeline timeline = replay_isolated(cluster, graph, {3, 1});
    check_order(graph, timeline, arrangement);
    const Outcome outcome{measure(graph, timeline), timeline.bytes_sent};
    check_bounds(model, arrangement, outcome.time);
    return outcome;
}

}  // namespace

TEST_CASE("random products of rows, columns, stages, microbatches and shards have the expected order and bytes",
          "[memory]") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        Draw draw(seed);
        Plan plan = random_plan(draw);
        const Parallelism& parallelism = plan.parallelism;
        const Pipeline& pipeline = parallelism.pipeline;
        const Model model = random_model(draw, 12, pipeline.stages * pipeline.virtual_stages);
        const Cluster cluster = random_cluster(draw, plan.ranks);
        CAPTURE(seed, plan.ranks, parallelism.layout.rows, plan.replicas(), pipeline.stages, pipeline.virtual_stages,
                pipeline.micro_batches, static_cast<int>(pipeline.schedule), static_cast<int>(parallelism.sharding),
                static_cast<int>(plan.overlap));
        const Arrangement arrangement = arrange(cluster, model, plan);
        const Outcome outcome = checked(cluster, model, plan, arrangement);
        double parameters = 0;
        for (const PlacedLayer& layer : arrangement.layers)
            parameters += static_cast<double>(layer.layout.rows) * static_cast<double>(layer.bytes) / element_bytes;
        // Biases of convolutions and dense layers are split like their outputs, so all parameters divide by the rows.
        CHECK(parameters == static_cast<double>(model.parameters()));
        CHECK(static_cast<double>(outcome.bytes_sent) == bytes_by_hand(model, plan, arrangement));
    }
}

TEST_CASE("parts that do not divide, and layers with other layouts, cause no deadlock and keep the order of passes",
          "[memory]") {
    for (unsigned seed = 100; seed < 150; ++seed) {
        Draw draw(seed);
        Plan plan = random_plan(draw);
        const Pipeline& pipeline = plan.parallelism.pipeline;
        const Model model = random_model(draw, 1, pipeline.stages * pipeline.virtual_stages);
        if (seed % 2 == 0) add_range(draw, model, plan);
        const Cluster cluster = random_cluster(draw, plan.ranks);
        CAPTURE(seed, plan.ranks, plan.parallelism.layout.rows, plan.replicas(), pipeline.stages,
                pipeline.virtual_stages, pipeline.micro_batches, static_cast<int>(plan.parallelism.sharding),
                static_cast<int>(plan.overlap));
        checked(cluster, model, plan, arrange(cluster, model, plan));
    }
}

TEST_CASE("images in cells, in stages, after and before other layouts, run in order or are errors", "[memory]") {
    int runs = 0;
    for (unsigned seed = 400; seed < 440; ++seed) {
        Draw draw(seed);
        Plan plan = random_plan(draw);
        const Pipeline& pipeline = plan.parallelism.pipeline;
        Layout& layout = plan.parallelism.layout;
        layout = {draw.between(1, 2), draw.between(1, 2), draw.between(1, 2)};
        plan.ranks = pipeline.stages * layout.replica() * draw.between(1, 2);
        const Model model = random_model(draw, 8, pipeline.stages * pipeline.virtual_stages);
        if (seed % 3 == 0) add_range(draw, model, plan);
        const Cluster cluster = random_cluster(draw, plan.ranks);
        CAPTURE(seed, plan.ranks, layout.rows, layout.height, layout.width, pipeline.stages, pipeline.virtual_stages);
        try {
            checked(cluster, model, plan, arrange(cluster, model, plan));
            ++runs;
        } catch (const ParallelismError& error) {
            CHECK((error.key == "domain" || error.key == "layers" || error.key == "model"));
        }
    }
    CHECK(runs >= 20);
}

TEST_CASE("activations between layers of two columns, two rows and two columns move the expected bytes", "[memory]") {
    Model model = plain_model(3, 0, 0);
    const std::int64_t elements[] = {10, 30, 70, 20};
    for (std::size_t i = 0; i < 3; ++i) {
        model.layers[i].inputs = elements[i];
        model.layers[i].activations = elements[i + 1];
    }
    Plan plan;
    plan.ranks = 2;
    plan.batch_per_rank = 1;
    plan.compute = ComputeKind::measured;
    plan.input_copy = InputCopy::none;
    plan.algorithm.name = "ring";
    plan.overlap = Overlap::none;
    plan.parallelism.ranges = {{"l1", "l1", Layout{.rows = 2}, {}}};
    const Star star{1e6, 1e-5};
    const Result result = simulate(lower(
        timed_star(2, star.bandwidth_Bps, star.latency_s, model, {1e-3, 2e-3, 3e-3}, {1e-3, 2e-3, 3e-3}), model, plan));
    // Inputs of both samples are gathered, and their gradients reduced and scattered; rows gather their outputs; the
    // gradients of these are computed where their sample is, and gathered.
    const double inputs = element_bytes * 2 * 30, outputs = element_bytes * 2 * 70;
    CHECK(static_cast<double>(result.bytes_sent) == 2 * inputs + 2 * outputs);
    // The layer of two rows computes half of two samples.
    CHECK(result.time.iteration_s ==
          Approx(2 * 6e-3 + 2 * star.ring_s(2, inputs) + 2 * star.ring_s(2, outputs)).epsilon(1e-6));
}

TEST_CASE("gradients exchanged during the backward pass are not slower than after it if nothing else is sent",
          "[memory]") {
    for (unsigned seed = 200; seed < 220; ++seed) {
        Draw draw(seed);
        Plan plan = random_plan(draw);
        plan.ranks /= plan.parallelism.layout.rows;
        plan.parallelism.layout.rows = 1;
        plan.parallelism.sharding = draw.of({Sharding::none, Sharding::optimizer, Sharding::gradients});
        plan.parallelism.pipeline = {};
        plan.parallelism.pipeline.micro_batches = 3;
        plan.batch_per_rank = 3;
        const Model model = random_model(draw, 1, 1);
        const Cluster cluster = random_cluster(draw, plan.ranks);
        CAPTURE(seed, plan.ranks, static_cast<int>(plan.parallelism.sharding));
        plan.overlap = Overlap::none;
        const double behind_s = simulate(lower(cluster, model, plan)).time.iteration_s;
        plan.overlap = Overlap::wait_free;
        CHECK(simulate(lower(cluster, model, plan)).time.iteration_s <= behind_s * (1 + 1e-9));
    }
}

TEST_CASE("one rank and one sample take their compute time", "[memory]") {
    for (unsigned seed = 300; seed < 310; ++seed) {
        Draw draw(seed);
        Plan plan = random_plan(draw);
        plan.ranks = plan.batch_per_rank = 1;
        plan.parallelism.layout = {};
        plan.parallelism.pipeline = {};
        const Model model = random_model(draw, 1, 1);
        const Cluster cluster = random_cluster(draw, 1);
        double computed_s = 0;
        for (const LayerTime& time : layer_times(model, cluster.device, 1, plan.compute))
            computed_s += time.forward_s + time.backward_s();
        const Result result = simulate(lower(cluster, model, plan));
        CAPTURE(seed);
        CHECK(result.time.iteration_s == Approx(computed_s).epsilon(1e-9));
        CHECK(result.bytes_sent == 0);
        CHECK_FALSE(result.time.pipeline_bubble);
    }
}
