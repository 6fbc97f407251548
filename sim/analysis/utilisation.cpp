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

/// Returns the executed FLOP of ranks, of which each stage has so many.
double executed_flop(const Model& model, const Arrangement& arrangement, Recomputation recomputation,
                     const std::vector<std::uint32_t>& stage_ranks) {
    double flop = 0;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const PlacedLayer& placed = arrangement.layers[i];
        const double ranks = static_cast<double>(stage_ranks[arrangement.stage_of(placed.virtual_stage)]) *
                             placed.contributors / static_cast<double>(placed.layout.rows);
        const double again = recomputed_flop(recomputation, model, static_cast<std::uint32_t>(i), placed.share);
        flop += (executed_flop(model, i, placed.share) + again) * arrangement.micro_batches * ranks;
    }
    return flop;
}

/// Returns the executed FLOP of all ranks.
double executed_flop(const Lowered& training) {
    const Recomputation recomputation = training.plan.recomputation;
    const Arrangement& all = training.arrangement;
    if (training.kinds.empty())
        return executed_flop(training.model, all, recomputation,
                             std::vector<std::uint32_t>(all.stages, all.stage_ranks));
    double flop = 0;
    for (std::uint32_t kind = 0; kind < training.kinds.size(); ++kind) {
        std::vector<std::uint32_t> ranks(all.stages, 0);
        for (std::uint32_t rank = 0; rank < training.kind_of_rank.size(); ++rank)
            if (training.kind_of_rank[rank] == kind) ++ranks[rank / all.stage_ranks];
        flop += executed_flop(training.model, training.kinds[kind].arrangement, recomputation, ranks);
    }
    return flop;
}

/// Returns the mean peak of the ranks' devices.
double peak_flops_per_s(const Lowered& training) {
    if (training.kinds.empty()) return training.cluster.device.flops_per_s;
    double sum = 0;
    for (const RankKind& kind : training.kinds)
        sum += static_cast<double>(kind.ranks) * training.cluster.device_of(kind.node_kind).flops_per_s;
    return sum / static_cast<double>(training.plan.ranks);
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
    const double peak = peak_flops_per_s(training);
    if (peak <= 0 || !std::isfinite(peak)) return result;
    result.model_flops = flop / (rank_s * peak);
    result.hardware_flops = executed_flop(training) / (rank_s * peak);
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
