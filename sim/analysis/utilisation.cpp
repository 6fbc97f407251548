#include "sim/analysis/utilisation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/lowering/recomputed_spans.hpp"
#include "sim/workload/kernels.hpp"
#include "sim/workload/sample_tokens.hpp"

namespace syncline {

namespace {

double model_flop(const Model& model, const Plan& plan) {
    double flop = 0;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const double passes = has_input_gradient(model, i) ? 3 : 2;
        flop += passes * 2 * static_cast<double>(model.layers[i].macs);
    }
    return flop * static_cast<double>(plan.used_batch());
}

/// Returns the FLOP that a rank executes for its share of a layer, forward and backward.
double executed_flop(const Model& model, std::size_t layer, Share share) {
    share.load = 1;  // not all ranks have the most tokens
    double flop = 0;
    for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient})
        if (pass != Pass::input_gradient || has_input_gradient(model, layer))
            flop += flop_of(kernels(model.layers[layer], pass, share, Lowering::implicit));
    return flop;
}

/// Returns the executed FLOP of all ranks.
double executed_flop(const Model& model, const Arrangement& arrangement, Recomputation recomputation) {
    double flop = 0;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const PlacedLayer& placed = arrangement.layers[i];
        const double ranks = static_cast<double>(arrangement.stage_ranks) * placed.contributors /
                             static_cast<double>(placed.layout.rows);
        const double again = recomputed_flop(recomputation, model, static_cast<std::uint32_t>(i), placed.share);
        flop += (executed_flop(model, i, placed.share) + again) * arrangement.micro_batches * ranks;
    }
    return flop;
}

}  // namespace

Utilisation utilisation_of(const Lowered& training, double iteration_s) {
    const Model& model = training.model;
    const Plan& plan = training.plan;
    Utilisation result;
    const double flop = model_flop(model, plan), rank_s = static_cast<double>(plan.ranks) * iteration_s;
    if (flop > 0) result.flop = flop;
    if (iteration_s <= 0) return result;
    if (const auto each = tokens_per_sample(model)) {
        result.tokens_per_s = *each * static_cast<double>(plan.used_batch()) / iteration_s;
        result.tokens_per_s_per_device = *result.tokens_per_s / static_cast<double>(plan.ranks);
    }
    if (flop == 0) return result;
    result.tflops_per_device = flop / rank_s / 1e12;
    const double peak = training.cluster.device.flops_per_s;
    if (peak <= 0 || !std::isfinite(peak)) return result;
    result.model_flops = flop / (rank_s * peak);
    result.hardware_flops = executed_flop(model, training.arrangement, plan.recomputation) / (rank_s * peak);
    return result;
}

std::string above_peak_note(const Utilisation& utilisation, const Device& device) {
    if (!utilisation.hardware_flops || *utilisation.hardware_flops <= 1 + 1e-9) return "";
    return fmt::format(
        "the executed FLOP take {:.3g} % of the peak of '{}': its `flops` and the measured throughput or times by "
        "which "
        "it computes contradict each other, for example because `flops` is of another precision",
        100 * *utilisation.hardware_flops, device.name);
}

}  // namespace syncline
