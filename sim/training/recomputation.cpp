#include "sim/training/recomputation.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/kernels.hpp"

namespace syncline {

namespace {

bool is_attention(const Layer& layer) {
    return std::holds_alternative<Attention>(layer.shape);
}

bool is_transformer(const Model& model) {
    return std::ranges::any_of(model.layers, is_attention);
}

/// Returns whether a layer of a transformer belongs to one of its blocks.
bool in_block(const Layer& layer) {
    return is_attention(layer) || std::holds_alternative<FeedForward>(layer.shape);
}

}  // namespace

std::vector<Segment> segments(const Model& model, std::uint32_t first, std::uint32_t end) {
    std::vector<Segment> result;
    if (!is_transformer(model)) {
        const auto each = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(end - first))));
        for (; first < end; first += each) result.push_back({first, std::min(first + each, end)});
        return result;
    }
    for (std::uint32_t layer = first; layer < end; ++layer) {
        if (!in_block(model.layers[layer])) continue;
        const bool follows = !result.empty() && result.back().end == layer && !is_attention(model.layers[layer]);
        if (!follows) result.push_back({layer, layer});
        result.back().end = layer + 1;
    }
    return result;
}

double recompute_seconds(Recomputation recomputation, const Model& model, std::uint32_t layer, const LayerTime& time) {
    if (recomputation == Recomputation::selective) return time.core_s;
    const bool again =
        recomputation == Recomputation::full && (!is_transformer(model) || in_block(model.layers[layer]));
    return again ? time.forward_s : 0;
}

double recomputed_flop(Recomputation recomputation, const Model& model, std::uint32_t layer, const Share& share) {
    const Layer& its = model.layers[layer];
    if (recomputation == Recomputation::full && (!is_transformer(model) || in_block(its)))
        return 2 * static_cast<double>(its.macs) * share.samples * share.part * share.area;
    double flop = 0;
    if (recomputation == Recomputation::selective)
        for (const Kernel& kernel : kernels(its, Pass::forward, share, Lowering::implicit))
            if (kernel.core) flop += kernel.flops * static_cast<double>(kernel.count);
    return flop;
}

}  // namespace syncline
