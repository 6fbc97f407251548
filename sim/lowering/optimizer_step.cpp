#include "sim/lowering/optimizer_step.hpp"

#include <algorithm>
#include <cmath>

#include "sim/lowering/offload.hpp"
#include "sim/workload/compute_model.hpp"

namespace syncline {

namespace {

/// Returns the number of weights that a rank of this stage updates.
double updated_weights(const Lowered& training, std::uint32_t stage) {
    const bool divided = training.plan.parallelism.sharding != Sharding::none;
    const double element = weight_element(training.model);
    double weights = 0;
    for (const PlacedLayer& layer : training.arrangement.layers) {
        if (training.arrangement.stage_of(layer.virtual_stage) != stage) continue;
        layer.each_weights([&](const Grouping& shards, std::uint64_t bytes) {
            weights += std::ceil(static_cast<double>(bytes) / element / (divided ? shards.size : 1));
        });
    }
    return weights;
}

}  // namespace

StepBytes step_bytes(const Plan& plan, const Model& model) {
    if (plan.optimizer == Optimizer::none) return {};
    const double weight = weight_element(model), master = master_element(model);
    const double gradient = std::max(gradient_element(model), model.precision.accumulation);
    const double clipping = plan.clipping ? 3 * gradient : 0;
    const double states = 2 * (kept_values(plan.optimizer) * moment_element(model) + (master > 0 ? master : weight));
    const double update = gradient + states + (master > 0 ? weight : 0);
    if (plan.offload == Offload::none) return {.clipping = clipping, .update = update};
    const bool gradients = plan.offload == Offload::gradients;
    return {.clipping = gradients ? 0 : clipping,
            .to_host = gradients ? 0 : gradient,
            .host = (gradients ? clipping : 0) + update,
            .to_device = weight};
}

StepTime step_time(const Lowered& training, std::uint32_t stage, const Device& device) {
    const Plan& plan = training.plan;
    const bool offloaded = plan.offload != Offload::none;
    const bool known = kind_used(plan.compute, training.model.name, device) == ComputeKind::tables;
    if (training.served() || (!known && !offloaded)) return {};
    const double weights = updated_weights(training, stage);
    const StepBytes bytes = step_bytes(plan, training.model);
    StepTime time;
    if (known) {
        const KernelRates& rates = *device.kernels;
        const double update_s =
            bytes.update > 0 ? rates.pointwise_s(Pointwise::optimizer, weights * bytes.update) - rates.fixed_s : 0;
        time.device_s = (weights * bytes.clipping / rates.memory_Bps + update_s) / device.speed;
    }
    if (!offloaded) return time;
    const double copy_Bps = host_copy_rate(training, stage);
    time.to_host_s = weights * bytes.to_host / copy_Bps;
    time.host_s = weights * bytes.host / host_memory_share(training, stage);
    time.to_device_s = weights * bytes.to_device / copy_Bps;
    return time;
}

}  // namespace syncline
