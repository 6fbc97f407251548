#include "sim/workload/kept.hpp"

#include "sim/workload/real.hpp"
#include "sim/workload/transformer.hpp"

namespace syncline {

namespace {

constexpr double full_precision = 4;

/// Bytes of activations that a rank keeps per sample.
struct Kept {
    double whole = 0;    ///< activations that every rank keeps whole
    double between = 0;  ///< also whole, but only the rank's positions with sequence parallelism
    double part = 0;     ///< activations of the rank's own part of the layer
};

struct KeptBy {
    const Layer& layer;
    double element;
    const Share& share;

    double inputs() const { return real(layer.inputs) * element; }
    double outputs() const { return real(layer.activations); }

    /// Returns the bytes of the inputs of a rank's activation functions and of their results, of this many hidden
    /// units.
    double hidden(bool gated, double units) const { return (gated ? 3 : 2) * units * share.part * element; }

    /// Returns what a half of a transformer's layer keeps per position and element of the width: the inputs of its
    /// normalisation and of its first matrix, and the dropout's mask.
    double around(Norm norm, bool dropout) const { return (norm == Norm::none ? 1 : 2) * element + (dropout ? 1 : 0); }

    Kept operator()(const Custom&) const { return {.whole = inputs()}; }
    Kept operator()(const Convolution& conv) const {
        return {.whole = inputs(), .part = conv.batch_norm ? outputs() * element * share.part : 0};
    }
    Kept operator()(const Dense& dense) const {
        const double loss = dense.gathered ? 0 : outputs() * full_precision * share.part;
        if (dense.positions == 1) return {.whole = inputs(), .part = loss};
        return {.between = inputs(), .part = loss};
    }
    Kept operator()(const Attention& attention) const {
        const double s = real(attention.positions), h = real(attention.width);
        const HeadElements own = head_elements(attention, share.part);
        // A latent vector is kept before and after its normalisation.
        const double latent = s * 2 * real(attention.query_rank) +
                              real(attention.sources()) * (2 * real(attention.kv_rank) + real(attention.rotary_size));
        Kept kept{.between = s * h * around(attention.norm, attention.dropout) + latent * element,
                  .part = (own.queries + own.keys + own.values + own.sums) * element};
        if (attention.scores == Scores::stored)
            kept.part += own.scores * (attention.dropout ? 2 * element + 1 : element);
        return kept;
    }
    Kept operator()(const FeedForward& forward) const {
        return {.between = real(forward.positions * forward.width) * around(forward.norm, forward.dropout),
                .part = hidden(forward.gated, real(forward.positions * forward.hidden))};
    }
    Kept operator()(const ParallelBlock& block) const {
        Kept kept = (*this)(block.attention);
        const Kept forward = (*this)(block.forward);
        // One input serves both halves: that of the normalisations, or of the matrices if there is one normalisation.
        kept.between += forward.between - real(block.attention.positions * block.attention.width) * element;
        kept.part += forward.part;
        return kept;
    }
    Kept operator()(const Experts& experts) const {
        const double s = real(experts.positions), h = real(experts.width);
        const double units =
            experts.copies() * share.load * real(experts.hidden) + real(experts.shared * experts.shared_hidden);
        return {.between = s * h * (around(experts.norm, false) + 2 * experts.copies() * element) +
                           s * real(experts.experts) * full_precision,
                .part = hidden(experts.gated, s * units)};
    }
    Kept operator()(const Embedding& embedding) const {
        return {.between = embedding.dropout ? real(embedding.positions * embedding.width) : 0};
    }
    Kept operator()(const EmbeddingBag&) const { return {}; }
    Kept operator()(const PatchEmbedding&) const { return {.whole = inputs()}; }
};

}  // namespace

double kept_bytes(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks) {
    const Kept kept = std::visit(KeptBy{layer, activation_element(model), share}, layer.shape);
    const double sample = kept.whole + kept.between / static_cast<double>(sequence_ranks) + kept.part;
    return sample * share.area * share.samples;
}

}  // namespace syncline
