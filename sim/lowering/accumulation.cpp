#include "sim/lowering/accumulation.hpp"

#include "sim/workload/compute_model.hpp"

namespace syncline {

namespace {

/// Returns the size of an element of the buffer in which gradients are added up.
double buffer_element(const Model& model) {
    return model.precision.accumulation > 0 ? model.precision.accumulation : gradient_element(model);
}

}  // namespace

double accumulated_bytes(const Model& model, const Plan& plan) {
    return plan.accumulation == Accumulation::fused ? 2 * buffer_element(model) : 0;
}

void accumulate_gradients(const Device& device, const Model& model, const Plan& plan, PlacedLayer& placed) {
    if (plan.accumulation == Accumulation::fused) return;
    if (kind_used(plan.compute, model.name, device) != ComputeKind::tables) return;
    const double weight = weight_element(model);
    const double buffer = buffer_element(model);
    const auto micro_batches = static_cast<double>(plan.parallelism.pipeline.micro_batches);
    const Parallelism& parallelism = plan.parallelism;
    const bool scattered = parallelism.sharding >= Sharding::gradients && parallelism.syncs_each_micro_batch();
    const double added = scattered ? buffer : weight;
    const double additions = buffer == added ? (micro_batches - 1) / micro_batches : 1;
    double moved = 0;  // bytes
    placed.each_weights([&](const Grouping& shards, std::uint64_t bytes) {
        const double weights = static_cast<double>(bytes) / weight;
        moved += additions * weights / (scattered ? shards.size : 1) * (added + 2 * buffer);
        if (scattered && buffer != weight) moved += weights * (weight + buffer);
    });
    const double seconds = moved / device.kernels->memory_Bps / device.speed;
    placed.time.weight_gradient_s += seconds;
    if (!placed.experts) return;
    for (LayerTime& time : placed.experts->times) time.weight_gradient_s += seconds;
}

}  // namespace syncline
