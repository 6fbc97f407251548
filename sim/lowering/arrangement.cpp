#include "sim/lowering/arrangement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/lowering/accumulation.hpp"
#include "sim/lowering/chunked_products.hpp"
#include "sim/lowering/context.hpp"
#include "sim/lowering/expert_parallelism.hpp"
#include "sim/lowering/layer_exchanges.hpp"
#include "sim/lowering/sharding.hpp"
#include "sim/lowering/stage_division.hpp"
#include "sim/workload/experts.hpp"

namespace syncline {

namespace {

/// Returns for each layer the range that contains it; none for most layers.
std::vector<const LayerRange*> ranges_of(const Model& model, const Parallelism& parallelism) {
    std::vector<const LayerRange*> ranges(model.layers.size(), nullptr);
    const auto find = [&](const std::string& name) {
        const auto at = std::find_if(model.layers.begin(), model.layers.end(),
                                     [&](const Layer& layer) { return layer.name == name; });
        if (at == model.layers.end()) throw std::logic_error("there is no layer " + name);
        return static_cast<std::size_t>(at - model.layers.begin());
    };
    for (const LayerRange& range : parallelism.ranges) {
        const std::size_t first = find(range.first), last = find(range.last);
        for (std::size_t layer = first; layer <= last; ++layer) ranges[layer] = &range;
    }
    return ranges;
}

/// Layers without an image to cut use a replica's cells as rows.
Layout layout_of(const Layer& layer, const Layout& wanted) {
    if (wanted.cells() == wanted.context || std::holds_alternative<Convolution>(layer.shape)) return wanted;
    return {.rows = wanted.replica()};
}

void require_images(const Model& model, const std::vector<PlacedLayer>& layers, const Parallelism& parallelism) {
    const auto cuts = [](const Layout& layout) { return layout.cells() > layout.context; };
    const bool wanted = cuts(parallelism.layout) ||
                        std::any_of(parallelism.ranges.begin(), parallelism.ranges.end(),
                                    [&](const LayerRange& range) { return range.layout && cuts(*range.layout); });
    const bool some =
        std::any_of(layers.begin(), layers.end(), [&](const PlacedLayer& layer) { return cuts(layer.layout); });
    if (wanted && !some)
        throw ParallelismError("domain",
                               fmt::format("model '{}' has no convolution whose images can be partitioned", model.name),
                               "`model` splits other layers");
}

void require_experts(const Model& model, const Parallelism& parallelism) {
    // Nothing is divided if every rank has the whole model.
    const bool wanted = parallelism.experts.ranks > 1 || (parallelism.experts.model > 0 && !parallelism.whole_model());
    if (wanted && !has_experts(model))
        throw ParallelismError(parallelism.experts.ranks > 1 ? "experts" : "experts.model",
                               fmt::format("model '{}' has no experts that can be divided among ranks", model.name),
                               "expert parallelism applies to layers of kind `moe`");
}

/// Returns the largest cell of an output, as a fraction of the output.
double area_of(const Layer& layer, const Layout& layout) {
    if (layout.cells() == layout.context) return 1 / static_cast<double>(layout.context);
    const auto& conv = std::get<Convolution>(layer.shape);
    const std::int64_t out[2] = {output_size(conv, 0), output_size(conv, 1)};
    if (out[0] < layout.height || out[1] < layout.width)
        throw ParallelismError("domain",
                               fmt::format("layer '{0}': an image of {3}×{4} cannot be cut into {1}×{2} cells",
                                           layer.name, layout.height, layout.width, out[0], out[1]),
                               "give this and the following layers another layout under `layers`");
    return static_cast<double>(up(out[0], layout.height) * up(out[1], layout.width)) /
           static_cast<double>(out[0] * out[1]);
}

PlacedLayer place(const Cluster& cluster, const Model& model, const Layer& layer, const Layout& layout,
                  const Plan& plan) {
    const std::int64_t ranks = plan.stage_ranks();
    const std::int64_t columns = ranks / layout.replica();
    const std::int64_t pieces = columns * plan.parallelism.pipeline.micro_batches;
    if (plan.global_batch() % pieces != 0)
        throw ParallelismError(
            "model", fmt::format("layer '{}': {} samples cannot be divided among {} columns of {} microbatches",
                                 layer.name, plan.global_batch(), columns, plan.parallelism.pipeline.micro_batches));
    PlacedLayer placed;
    placed.layout = layout;
    placed.share.samples = static_cast<double>(plan.global_batch() / pieces);
    placed.share.area = area_of(layer, layout);
    placed.contributors = narrow(layout.rows);
    placed.replicas = {narrow(ranks / layout.rows), narrow(layout.rows)};
    placed.shards = shards_of(cluster, plan, layer, placed.replicas);
    placed.bytes = gradient_bytes(model, layer);
    placed.weight_bytes = weight_bytes(model, layer);
    if (layout.rows == 1) return placed;
    placed.share.fraction = 1 / static_cast<double>(layout.rows);
    if (plan.parallelism.sequence) placed.share.positions = placed.share.fraction;
    if (const std::int64_t parts = parts_of(layer); parts > 0) {
        const std::int64_t each = up(parts, layout.rows);
        placed.contributors = narrow(up(parts, each));
        placed.padded = static_cast<double>(each * placed.contributors) / static_cast<double>(parts);
        placed.share.fraction = static_cast<double>(each) / static_cast<double>(parts);
    }
    const double parameters = row_parameters(layer, placed.share.fraction);
    placed.bytes = static_cast<std::uint64_t>(std::ceil(parameters * gradient_element(model)));
    placed.weight_bytes = static_cast<std::uint64_t>(std::ceil(parameters * weight_element(model)));
    return placed;
}

void take_no_time(PlacedLayer& placed) {
    placed.time = {};
    placed.recompute_s = 0;
    placed.chunked.inputs_forward_s = placed.chunked.outputs_forward_s = placed.chunked.outputs_backward_s = 0;
    if (placed.experts) placed.experts->times.clear();
}

/// Returns the first layers of the virtual stages, followed by the number of layers.
std::vector<std::uint32_t> cut(const std::vector<PlacedLayer>& layers, const Pipeline& pipeline) {
    const std::uint32_t all = narrow(pipeline.stages * pipeline.virtual_stages);
    std::vector<std::int64_t> counts = pipeline.layers;
    if (counts.empty() && all == 1) counts = {static_cast<std::int64_t>(layers.size())};
    if (counts.empty()) counts = divide(pipeline, pass_times(layers));
    std::vector<std::uint32_t> first{0};
    for (const std::int64_t count : counts) first.push_back(first.back() + narrow(count));
    return first;
}

}  // namespace

std::vector<PassTimes> pass_times(const std::vector<PlacedLayer>& layers) {
    std::vector<PassTimes> times;
    for (const PlacedLayer& layer : layers)
        times.push_back(
            {layer.time.forward_s, layer.recompute_s + layer.time.input_gradient_s, layer.time.weight_gradient_s});
    return times;
}

Software software_of(const Model& model, const Plan& plan) {
    return {plan.launches, plan.elementwise, accumulated_bytes(model, plan)};
}

Arrangement arrange(const Cluster& cluster, const Model& model, const Plan& plan) {
    const Parallelism& parallelism = plan.parallelism;
    Arrangement result;
    result.pipeline = parallelism.pipeline;
    result.stages = narrow(parallelism.pipeline.stages);
    result.virtual_stages = narrow(parallelism.pipeline.virtual_stages);
    result.stage_ranks = narrow(plan.stage_ranks());
    result.micro_batches = narrow(parallelism.pipeline.micro_batches);

    if (plan.documents) result.documents = document_work(model, plan);
    const auto ranges = ranges_of(model, parallelism);
    const auto computation = make_compute_model(plan.compute, model, cluster.device, software_of(model, plan));
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const bool own = ranges[i] && ranges[i]->layout;
        const Layout layout = layout_of(model.layers[i], own ? *ranges[i]->layout : parallelism.layout);
        result.layers.push_back(place(cluster, model, model.layers[i], layout, plan));
        PlacedLayer& placed = result.layers.back();
        if (result.documents) placed.share.scores = result.documents->scores_of(i);
        place_experts(model, narrow(static_cast<std::int64_t>(i)), plan, placed);
        placed.time = computation->time(i, placed.share);
        time_experts(*computation, narrow(static_cast<std::int64_t>(i)), placed);
        chunk_products(*computation, narrow(static_cast<std::int64_t>(i)), parallelism, placed);
        accumulate_gradients(cluster.device, model, plan, placed);
        placed.recompute_s =
            recompute_seconds(plan.recomputation, model, narrow(static_cast<std::int64_t>(i)), placed.time);
        if (plan.compression.any() && placed.replicas.size > 1)
            placed.compressed =
                compress(plan.compression, model, model.layers[i], placed.replicas.size,
                         {cluster.device.memory_Bps, cluster.device.kernel_latency_s}, placed.share.fraction);
    }
    require_images(model, result.layers, parallelism);
    require_experts(model, parallelism);
    ExchangePlanner exchanges(model, plan, result.layers);
    for (std::uint32_t i = 0; i < model.layers.size(); ++i) {
        const bool own = ranges[i] && ranges[i]->algorithms;
        const ActivationAlgorithms& algorithms = own ? *ranges[i]->algorithms : parallelism.algorithms;
        exchanges.add(i, algorithms);
        if (parallelism.layout.context > 1)
            add_context(model, model.layers[i], parallelism, algorithms.all_to_all, result.layers[i]);
        add_experts(model, model.layers[i], plan, cluster.node.devices, algorithms, result.layers[i]);
    }

    result.first_layer = cut(result.layers, parallelism.pipeline);
    for (std::size_t i = 0; i < model.layers.size(); ++i)
        if (std::ranges::count(plan.free_layers, model.layers[i].name) > 0) take_no_time(result.layers[i]);
    for (std::uint32_t virtual_stage = 0; virtual_stage + 1 < result.first_layer.size(); ++virtual_stage) {
        for (std::uint32_t i = result.first_layer[virtual_stage]; i < result.first_layer[virtual_stage + 1]; ++i) {
            result.layers[i].virtual_stage = virtual_stage;
            result.layers[i].unit = {i, i + 1};
        }
        const bool again = plan.recomputation == Recomputation::full;
        if (again || is_transformer(model))
            for (const LayerSpan& span :
                 spans(model, result.first_layer[virtual_stage], result.first_layer[virtual_stage + 1]))
                for (std::uint32_t i = span.first; i < span.end; ++i) {
                    result.layers[i].recomputed = again;
                    result.layers[i].unit = span;
                }
        if (virtual_stage + 2 == result.first_layer.size()) break;
        result.boundaries.push_back(exchanges.boundary(result.first_layer[virtual_stage + 1], parallelism.algorithms));
    }
    return result;
}

}  // namespace syncline
