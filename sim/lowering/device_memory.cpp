#include "sim/lowering/device_memory.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sim/workload/kept.hpp"

namespace syncline {

namespace {

/// Returns the optimizer state of one parameter, with the master copy of the weight.
double state_bytes(Optimizer optimizer, const Model& model) {
    if (optimizer == Optimizer::none) return 0;
    return kept_values(optimizer) * moment_element(model) + master_element(model);
}

/// Returns the bytes in the host's memory for one parameter: the state, with a copy of the weight if it has none, and
/// the gradient and the weight that are copied.
double host_bytes(Optimizer optimizer, const Model& model) {
    const double copy = master_element(model), weight = weight_element(model);
    const double gradient = std::max(gradient_element(model), model.precision.accumulation);
    return kept_values(optimizer) * moment_element(model) + std::max(copy, weight) + gradient + (copy > 0 ? weight : 0);
}

/// Activations of a virtual stage's layers for one microbatch: those that are kept until its backward pass, and those
/// that are there only during it, because they are computed again: of the span with the most, and of all spans; and
/// what is there only while the loss is computed.
struct VirtualStageActivations {
    double kept = 0, again = 0, all_again = 0, loss = 0;
};

/// Activations of a layer for one microbatch: all, and those that are kept until its backward pass.
struct LayerActivations {
    double all = 0, kept = 0;
};

LayerActivations activations_of_layer(const Model& model, const Plan& plan, const Arrangement& arrangement,
                                      std::uint32_t i) {
    const PlacedLayer& placed = arrangement.layers[i];
    const Layer& layer = model.layers[i];
    const std::int64_t sequence_ranks = plan.parallelism.sequence ? placed.layout.rows : 1;
    const Saved saved = plan.kept();
    const double all = kept_bytes(model, layer, placed.share, sequence_ranks, saved);
    if (plan.recomputation == Recomputation::selective)
        return {all, kept_without_scores(model, layer, placed.share, sequence_ranks, saved)};
    if (plan.recomputation == Recomputation::operators)
        return {all, kept_by_operator(model, layer, placed.share, sequence_ranks, saved)};
    if (!placed.recomputed) return {all, all};
    return {all, arrangement.begins_span(i) ? input_bytes(model, layer, placed.share, sequence_ranks) : 0};
}

VirtualStageActivations activations_of(const Model& model, const Plan& plan, const Arrangement& arrangement,
                                       std::uint32_t part) {
    VirtualStageActivations bytes;
    double span = 0;  // computed again with the layer, so far
    for (std::uint32_t i = arrangement.first_layer[part]; i < arrangement.first_layer[part + 1]; ++i) {
        const PlacedLayer& placed = arrangement.layers[i];
        const auto [all, kept] = activations_of_layer(model, plan, arrangement, i);
        bytes.kept += kept;
        bytes.loss += loss_bytes(model, model.layers[i], placed.share, plan.kept());
        span = (arrangement.begins_span(i) ? 0 : span) + all - kept;
        bytes.again = std::max(bytes.again, span);
        // Scores are no inputs of products with weights.
        if (placed.recomputed || plan.recomputation == Recomputation::operators) bytes.all_again += all - kept;
    }
    return {std::ceil(bytes.kept), std::ceil(bytes.again), std::ceil(bytes.all_again), std::ceil(bytes.loss)};
}

std::vector<HeldActivations> held(const Model& model, const Plan& plan, const Arrangement& arrangement,
                                  std::uint32_t stage) {
    std::vector<VirtualStageActivations> virtual_stages;
    for (std::uint32_t which = 0; which < arrangement.virtual_stages; ++which)
        virtual_stages.push_back(
            activations_of(model, plan, arrangement, plan.parallelism.pipeline.virtual_stage_of(which, stage)));
    std::vector<HeldActivations> passes;
    double held = 0;
    for (const Slot& slot : slots(plan.parallelism.pipeline, stage)) {
        const VirtualStageActivations& passed = virtual_stages[slot.virtual_rank];
        if (slot.forward) held += passed.kept;
        // What is computed again for the gradients of inputs stays for those of weights.
        const double stays = slot.gradients == Gradients::all ? 0 : passed.all_again;
        if (slot.gradients == Gradients::inputs) held += stays;
        const double during = held + std::max(passed.loss, slot.forward || stays > 0 ? 0 : passed.again);
        if (slot.releases()) held -= passed.kept + stays;
        passes.push_back({slot, during, held});
    }
    return passes;
}

double peak_activations(const Model& model, const Plan& plan, const Arrangement& arrangement, std::uint32_t stage) {
    double peak = 0;
    for (const HeldActivations& pass : held(model, plan, arrangement, stage)) peak = std::max(peak, pass.during_bytes);
    return peak;
}

/// Returns the most of what virtual stages have from the start of their first backward pass to the end of the last one,
/// given by virtual rank.
double peak_of_backward(const Pipeline& pipeline, std::uint32_t stage, const std::vector<double>& each) {
    std::vector<std::int64_t> begun(each.size(), 0), ended(each.size(), 0);
    double held = 0, peak = 0;
    for (const Slot& slot : slots(pipeline, stage)) {
        if (slot.forward) continue;
        if (slot.gradients != Gradients::weights && ++begun[slot.virtual_rank] == 1) held += each[slot.virtual_rank];
        peak = std::max(peak, held);
        if (slot.releases() && ++ended[slot.virtual_rank] == pipeline.micro_batches) held -= each[slot.virtual_rank];
    }
    return peak;
}

Memory memory_of_stage(const Model& model, const Plan& plan, const Arrangement& arrangement, std::uint32_t stage) {
    const Sharding sharding = plan.parallelism.sharding;
    const double state = state_bytes(plan.optimizer, model) / weight_element(model);
    const double on_host = host_bytes(plan.optimizer, model) / weight_element(model);
    const bool offloaded = plan.offload != Offload::none, leave = plan.offload == Offload::gradients;
    // Gradients, and the buffer beside them.
    const double buffers = 1 + model.precision.accumulation / gradient_element(model);
    const auto in_flight = static_cast<double>((plan.exchange_delay + plan.local_steps - 1) / plan.local_steps);
    Memory memory;
    double host = 0;
    // Layer by layer, gradients are reduced after the last backward pass of their virtual stage.
    const Pipeline& pipeline = plan.parallelism.pipeline;
    const bool early = plan.overlap != Overlap::none && plan.fusion.threshold_bytes == 0;
    std::vector<double> added_up(arrangement.virtual_stages, 0);  // by virtual rank
    // Bytes of gradients that are there until they are reduced, or leave: of a layer, or a unit.
    double largest_gradient = 0, unit_gradient = 0;
    std::vector<double> missing;  // by unit: bytes that are on other ranks until they are gathered
    for (std::uint32_t i = 0; i < arrangement.layers.size(); ++i) {
        const PlacedLayer& layer = arrangement.layers[i];
        if (arrangement.stage_of(layer.virtual_stage) != stage) continue;
        double& virtual_stage = added_up[layer.virtual_stage / static_cast<std::uint32_t>(pipeline.stages)];
        const auto add = [&](std::uint64_t weight_bytes, std::uint64_t gradient_bytes, const Grouping& replicas,
                             const Grouping& shards) {
            const auto whole = static_cast<double>(weight_bytes), gradients = static_cast<double>(gradient_bytes);
            const double shard = std::ceil(whole / shards.size);
            memory.weights_bytes += sharding >= Sharding::parameters ? shard : whole;
            // Gradients of several microbatches are added up before they are reduced, or after that in the shard.
            const bool several = arrangement.micro_batches > 1;
            const bool each = !several || plan.parallelism.syncs_each_micro_batch();
            const bool divided = sharding >= Sharding::gradients, reduced = divided && each;
            const double gradient_shard = std::ceil(gradients / shards.size);
            const double stay = leave ? 0 : divided && (each || early) ? gradient_shard : gradients;
            memory.gradients_bytes += stay * buffers;
            if (!leave && !each) virtual_stage += (gradients - stay) * buffers;
            // The layer's shard is there beside it if it has the sum of previous microbatches.
            const double own = several && shards.size > 1 ? 0 : stay;
            const double passing = gradients * (leave ? buffers : 1) - own;
            unit_gradient += passing;
            if (reduced || leave)
                largest_gradient =
                    std::max(largest_gradient, sharding == Sharding::parameters && !leave ? unit_gradient : passing);
            if (replicas.size > 1)
                memory.gradients_bytes += gradients * (in_flight + (plan.compression.keeps_rest() ? 1 : 0));
            const double updated = sharding >= Sharding::optimizer ? shard : whole;
            (offloaded ? host : memory.optimizer_bytes) += (offloaded ? on_host : state) * updated;
            missing.back() += whole - shard;
        };
        if (layer.unit.first == i) {
            missing.push_back(0);
            unit_gradient = 0;
        }
        add(layer.weight_bytes, layer.bytes, layer.replicas, layer.shards);
        if (const auto& experts = layer.experts)
            add(experts->weight_bytes, experts->bytes, experts->replicas, experts->shards);
    }
    if (sharding >= Sharding::parameters) {
        std::sort(missing.begin(), missing.end(), std::greater<>());
        for (std::size_t i = 0; i < std::min<std::size_t>(2, missing.size()); ++i) memory.weights_bytes += missing[i];
    }
    memory.gradients_bytes += largest_gradient + peak_of_backward(pipeline, stage, added_up);
    for (double Memory::*bytes : {&Memory::weights_bytes, &Memory::gradients_bytes, &Memory::optimizer_bytes})
        memory.*bytes = std::ceil(memory.*bytes);
    memory.activations_bytes = peak_activations(model, plan, arrangement, stage);
    // Casts of 4-byte weights for the products stay until the backward pass (torch/amp/autocast_mode.py, its cache).
    constexpr double cast_bytes = 2;
    if (model.precision.autocast)
        memory.activations_bytes += std::ceil(memory.weights_bytes / weight_element(model) * cast_bytes);
    // The backward pass frees activations while it allocates gradients.
    if (!plan.saved.gradients && arrangement.micro_batches == 1)
        memory.gradients_bytes = std::max(0.0, memory.gradients_bytes - memory.activations_bytes);
    if (offloaded) memory.host_bytes = std::ceil(host);
    return memory;
}

}  // namespace

namespace {

Memory on_device(Memory memory, const Device& device) {
    if (std::isfinite(device.memory_bytes))
        memory.device_bytes = std::max(0.0, device.memory_bytes - device.reserve_bytes);
    return memory;
}

/// Returns whether one has less room than the other; without capacities, whether it needs more.
bool tighter(const Memory& one, const Memory& other) {
    const auto room = [](const Memory& of) { return of.device_bytes.value_or(unlimited) - of.total_bytes(); };
    return std::pair(room(one), -one.total_bytes()) < std::pair(room(other), -other.total_bytes());
}

}  // namespace

Memory memory_of(const Lowered& training, std::uint32_t stage) {
    const auto of = [&](const Arrangement& arrangement, const Device& device) {
        return on_device(memory_of_stage(training.model, training.plan, arrangement, stage), device);
    };
    if (training.kinds.empty()) return of(training.arrangement, training.cluster.device);
    std::optional<Memory> tightest;
    for (const std::uint32_t number : training.kinds_of_stage(stage)) {
        const RankKind& kind = training.kinds[number];
        const Device& device = training.cluster.device_of(kind.node_kind);
        Memory memory = of(kind.arrangement, device);
        memory.device = device.name;
        if (!tightest || tighter(memory, *tightest)) tightest = std::move(memory);
    }
    return *tightest;
}

Memory memory_of(const Lowered& training) {
    Memory most = memory_of(training, 0);
    for (std::uint32_t stage = 1; stage < training.arrangement.stages; ++stage)
        if (Memory memory = memory_of(training, stage); tighter(memory, most)) most = std::move(memory);
    return most;
}

std::vector<double> kept_by_layer(const Lowered& training) {
    std::vector<double> kept;
    for (std::uint32_t i = 0; i < training.arrangement.layers.size(); ++i)
        kept.push_back(activations_of_layer(training.model, training.plan, training.arrangement, i).kept);
    return kept;
}

std::vector<HeldActivations> held_activations(const Lowered& training, std::uint32_t stage) {
    return held(training.model, training.plan, training.arrangement, stage);
}

}  // namespace syncline
