#include "sim/workload/kept.hpp"

namespace syncline {

namespace {

/// Bytes of activations that a rank keeps per sample.
struct Kept {
    double whole = 0;    ///< activations that every rank keeps whole
    double between = 0;  ///< also whole, but only the rank's positions with sequence parallelism
    double part = 0;     ///< activations of the rank's own part of the layer
};

struct KeptBy {
    const Layer& layer;
    double element;
    bool scores = true;  ///< those of attention are kept

    double inputs() const { return static_cast<double>(layer.inputs) * element; }
    double outputs() const { return static_cast<double>(layer.activations); }

    Kept operator()(const Custom&) const { return {.whole = inputs()}; }
    Kept operator()(const Convolution& conv) const {
        return {.whole = inputs(), .part = conv.batch_norm ? outputs() * element : 0};
    }
    Kept operator()(const Dense& dense) const {
        constexpr double full_precision = 4;
        const double loss = dense.gathered ? 0 : outputs() * full_precision;
        if (dense.positions == 1) return {.whole = inputs(), .part = loss};
        return {.between = inputs(), .part = loss};
    }
    Kept operator()(const Attention& attention) const {
        const auto s = static_cast<double>(attention.positions), h = static_cast<double>(attention.width);
        const double squares = scores ? static_cast<double>(attention.heads) * s * s : 0;
        return {.between = s * h * (2 * element + 1), .part = 4 * s * h * element + squares * (2 * element + 1)};
    }
    Kept operator()(const FeedForward& forward) const {
        const auto s = static_cast<double>(forward.positions), h = static_cast<double>(forward.width);
        return {.between = s * h * (2 * element + 1), .part = 2 * s * static_cast<double>(forward.hidden) * element};
    }
    Kept operator()(const Embedding& embedding) const {
        return {.between = static_cast<double>(embedding.positions) * static_cast<double>(embedding.width)};
    }
};

double on_rank(const Kept& kept, const Share& share, std::int64_t sequence_ranks) {
    const double sample = kept.whole + kept.between / static_cast<double>(sequence_ranks) + kept.part * share.part;
    return sample * share.area * share.samples;
}

}  // namespace

double kept_bytes(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks) {
    return on_rank(std::visit(KeptBy{layer, activation_element(model)}, layer.shape), share, sequence_ranks);
}

double kept_without_scores(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks) {
    return on_rank(std::visit(KeptBy{layer, activation_element(model), false}, layer.shape), share, sequence_ranks);
}

double input_bytes(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks) {
    const double inputs = static_cast<double>(layer.inputs) * activation_element(model);
    return on_rank({.between = inputs}, share, sequence_ranks);
}

}  // namespace syncline
