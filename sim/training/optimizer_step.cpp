#include "sim/training/optimizer_step.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/compute_model.hpp"

namespace syncline {

double step_bytes_per_weight(Optimizer optimizer, const Model& model) {
    const double weight = weight_element(model), master = master_element(model);
    const double gradients = 4 * std::max(gradient_element(model), model.precision.accumulation);
    const double states = 2 * (1 + kept_values(optimizer)) * (master > 0 ? master : weight);
    return gradients + states + (master > 0 ? weight : 0);
}

double step_seconds(const Lowered& training, std::uint32_t stage) {
    const Device& device = training.cluster.device;
    const Plan& plan = training.plan;
    if (training.served() || kind_used(plan.compute, training.model.name, device) != ComputeKind::tables) return 0;
    const bool divided = plan.parallelism.sharding != Sharding::none;
    const double element = weight_element(training.model);
    double weights = 0;
    for (const PlacedLayer& layer : training.arrangement.layers) {
        if (layer.part % training.arrangement.stages != stage) continue;
        PlacedLayer::each_weights(layer, [&](const Grouping& shards, std::uint64_t bytes, const auto&) {
            weights += std::ceil(static_cast<double>(bytes) / element / (divided ? shards.size : 1));
        });
    }
    const double bytes = weights * step_bytes_per_weight(plan.optimizer, training.model);
    return bytes / device.kernels->memory_Bps / device.speed;
}

}  // namespace syncline
