#include "sim/training/optimizer_step.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/compute_model.hpp"

namespace syncline {

double step_bytes_per_weight(Optimizer optimizer, const Model& model) {
    const double weight = weight_element(model), master = master_element(model), values = kept_values(optimizer);
    const double gradients = 4 * std::max(gradient_element(model), model.precision.accumulation);
    return master > 0 ? gradients + 2 * (1 + values) * master + weight : gradients + 2 * (1 + values) * weight;
}

double step_seconds(const Lowered& training, std::uint32_t stage) {
    const Device& device = training.cluster.device;
    const Plan& plan = training.plan;
    if (training.served() || kind_used(plan.compute, training.model.name, device) != ComputeKind::tables) return 0;
    const bool divided = plan.parallelism.sharding != Sharding::none;
    const double element = weight_element(training.model);
    double weights = 0;
    const auto add = [&](std::uint64_t bytes, const Grouping& shards) {
        weights += std::ceil(static_cast<double>(bytes) / element / (divided ? shards.size : 1));
    };
    for (const PlacedLayer& layer : training.arrangement.layers) {
        if (layer.part % training.arrangement.stages != stage) continue;
        add(layer.weight_bytes, layer.shards);
        if (layer.experts) add(layer.experts->weight_bytes, layer.experts->shards);
    }
    const double bytes = weights * step_bytes_per_weight(plan.optimizer, training.model);
    return bytes / device.kernels->memory_Bps / device.speed;
}

}  // namespace syncline
