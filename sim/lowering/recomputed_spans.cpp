#include "sim/lowering/recomputed_spans.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/alternate.hpp"

namespace syncline {

namespace {

bool is_attention(const Layer& layer) {
    return attention_of(layer) != nullptr;
}

/// Returns whether a layer keeps scores.
bool keeps_scores(const Layer& layer) {
    const Attention* attention = attention_of(layer);
    return attention && attention->scores == Scores::stored;
}

/// Returns whether a layer of a transformer belongs to one of its blocks.
bool in_block(const Layer& layer) {
    return is_attention(layer) || std::holds_alternative<FeedForward>(layer.shape) ||
           std::holds_alternative<Experts>(layer.shape);
}

}  // namespace

const Attention* attention_of(const Layer& layer) {
    if (const auto* block = std::get_if<ParallelBlock>(&layer.shape)) return &block->attention;
    return std::get_if<Attention>(&layer.shape);
}

bool is_transformer(const Model& model) {
    return std::ranges::any_of(model.layers, is_attention);
}

bool has_experts(const Model& model) {
    return std::ranges::any_of(model.layers,
                               [](const Layer& layer) { return std::holds_alternative<Experts>(layer.shape); });
}

bool stores_scores(const Model& model) {
    return std::ranges::any_of(model.layers, keeps_scores);
}

std::vector<LayerSpan> spans(const Model& model, std::uint32_t first, std::uint32_t end) {
    std::vector<LayerSpan> result;
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

bool recomputes_inputs(Recomputation recomputation, const Layer& layer) {
    return recomputation == Recomputation::operators && in_block(layer);
}

double recompute_seconds(Recomputation recomputation, const Model& model, std::uint32_t layer, const LayerTime& time) {
    if (recomputation == Recomputation::selective) return keeps_scores(model.layers[layer]) ? time.core_again_s : 0;
    if (recomputation == Recomputation::operators) return time.alternate_s;
    const bool again =
        recomputation == Recomputation::full && (!is_transformer(model) || in_block(model.layers[layer]));
    return again ? time.forward_s : 0;
}

double recomputed_flop(Recomputation recomputation, const Model& model, std::uint32_t layer, const Share& share) {
    const Layer& its = model.layers[layer];
    std::vector<Kernel> again;
    if (recomputation == Recomputation::full && (!is_transformer(model) || in_block(its)))
        again = kernels(its, Pass::forward, share, Lowering::implicit);
    if (recomputation == Recomputation::operators) again = kernels_again(its, share);
    if (recomputation == Recomputation::selective && keeps_scores(its)) {
        again = kernels(its, Pass::forward, share, Lowering::implicit);
        std::erase_if(again, [](const Kernel& kernel) { return !kernel.core; });
    }
    return flop_of(again);
}

}  // namespace syncline
