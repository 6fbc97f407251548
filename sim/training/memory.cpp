#include "sim/training/memory.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "sim/training/pipeline.hpp"
#include "sim/workload/kept.hpp"

namespace syncline {

namespace {

/// Returns the optimizer state of one parameter, with the master copy of the weight.
double state_bytes(Optimizer optimizer, const Model& model) {
    const double values = optimizer == Optimizer::adam ? 2 : optimizer == Optimizer::momentum ? 1 : 0;
    const double copy = master_element(model);
    return values * std::max(copy, weight_element(model)) + copy;
}

/// Returns the activations that a chunk's layers keep for one micro-batch.
double kept_by_chunk(const Model& model, const Plan& plan, const Arrangement& arrangement, std::uint32_t part) {
    double bytes = 0;
    for (std::uint32_t i = arrangement.first_layer[part]; i < arrangement.first_layer[part + 1]; ++i) {
        const PlacedLayer& layer = arrangement.layers[i];
        const std::int64_t sequence_ranks = plan.parallelism.sequence ? layer.layout.rows : 1;
        bytes += kept_bytes(model, model.layers[i], layer.share, sequence_ranks);
    }
    return std::ceil(bytes);
}

double peak_activations(const Model& model, const Plan& plan, const Arrangement& arrangement, std::uint32_t stage) {
    std::vector<double> chunks;
    for (std::uint32_t chunk = 0; chunk < arrangement.chunks; ++chunk)
        chunks.push_back(kept_by_chunk(model, plan, arrangement, chunk * arrangement.stages + stage));
    double held = 0, peak = 0;
    for (const Slot& slot : slots(plan.parallelism.pipeline, stage)) {
        held += slot.forward ? chunks[slot.chunk] : -chunks[slot.chunk];
        peak = std::max(peak, held);
    }
    return peak;
}

Memory memory_of_stage(const Model& model, const Plan& plan, const Arrangement& arrangement, std::uint32_t stage) {
    const Sharding sharding = plan.parallelism.sharding;
    const double state = state_bytes(plan.optimizer, model) / weight_element(model);
    Memory memory;
    std::vector<double> missing;  // by layer: bytes that are on other ranks until they are gathered
    for (const PlacedLayer& layer : arrangement.layers) {
        if (layer.part % arrangement.stages != stage) continue;
        const auto add = [&](std::uint64_t weight_bytes, std::uint64_t gradient_bytes, std::uint32_t replicas) {
            const auto whole = static_cast<double>(weight_bytes), gradients = static_cast<double>(gradient_bytes);
            const double shard = std::ceil(whole / replicas);
            memory.weights_bytes += sharding >= Sharding::parameters ? shard : whole;
            // Gradients of several micro-batches are accumulated before they are reduced.
            const bool reduced = sharding >= Sharding::gradients && arrangement.micro_batches == 1;
            memory.gradients_bytes += reduced ? std::ceil(gradients / replicas) : gradients;
            if (plan.compression.keeps_rest() && replicas > 1) memory.gradients_bytes += gradients;
            memory.optimizer_bytes += state * (sharding >= Sharding::optimizer ? shard : whole);
            missing.push_back(whole - shard);
        };
        add(layer.weight_bytes, layer.bytes, layer.replicas.size);
        if (layer.experts) add(layer.experts->weight_bytes, layer.experts->bytes, layer.experts->replicas.size);
    }
    if (sharding >= Sharding::parameters) {
        std::sort(missing.begin(), missing.end(), std::greater<>());
        for (std::size_t i = 0; i < std::min<std::size_t>(2, missing.size()); ++i) memory.weights_bytes += missing[i];
    }
    for (double Memory::*bytes : {&Memory::weights_bytes, &Memory::gradients_bytes, &Memory::optimizer_bytes})
        memory.*bytes = std::ceil(memory.*bytes);
    memory.activations_bytes = peak_activations(model, plan, arrangement, stage);
    return memory;
}

}  // namespace

Memory memory_of(const Lowered& training) {
    Memory most;
    for (std::uint32_t stage = 0; stage < training.arrangement.stages; ++stage) {
        const Memory memory = memory_of_stage(training.model, training.plan, training.arrangement, stage);
        if (memory.total_bytes() > most.total_bytes()) most = memory;
    }
    const double device_bytes = training.cluster.device.memory_bytes;
    if (std::isfinite(device_bytes)) most.device_bytes = device_bytes;
    return most;
}

}  // namespace syncline
