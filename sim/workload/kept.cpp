#include "sim/workload/kept.hpp"

#include <algorithm>

#include "sim/workload/alternate.hpp"
#include "sim/workload/real.hpp"
#include "sim/workload/transformer.hpp"

namespace syncline {

namespace {

constexpr double full_precision = 4;

/// Bytes of activations that a rank keeps per sample.
struct Kept {
    double whole = 0;     ///< activations that every rank keeps whole
    double between = 0;   ///< also whole, but only the rank's positions with sequence parallelism
    double gathered = 0;  ///< likewise, unless what was gathered is kept: see Saved
    double part = 0;      ///< activations of the rank's own part of the layer
};

struct KeptBy {
    const Layer& layer;
    double element;
    const Share& share;
    bool gate = false;               ///< see Saved
    bool scores = true;              ///< those of attention are kept
    double logits = full_precision;  ///< bytes of each that is kept for the loss

    double inputs() const { return real(layer.inputs) * element; }
    double outputs() const { return real(layer.activations); }

    /// Returns the bytes of the inputs of a rank's activation functions and of their results, of this many hidden
    /// units.
    double hidden(bool gated, double units) const {
        return (gated ? gate ? 4 : 3 : 2) * units * share.fraction * element;
    }

    /// Returns what a half of a transformer's layer keeps per position and element of the width, beside the inputs of
    /// its first matrix: those of its normalisation, and the dropout's mask.
    double around(Norm norm, bool dropout) const { return (norm == Norm::none ? 0 : element) + (dropout ? 1 : 0); }

    Kept operator()(const Custom&) const { return {.whole = inputs()}; }
    Kept operator()(const Convolution& conv) const {
        return {.whole = inputs(), .part = conv.batch_norm ? outputs() * element * share.fraction : 0};
    }
    Kept operator()(const Dense& dense) const {
        const double loss = dense.gathered ? 0 : outputs() * logits * share.fraction;
        if (dense.positions == 1) return {.whole = inputs(), .part = loss};
        return {.gathered = inputs(), .part = loss};
    }
    Kept operator()(const Attention& attention) const {
        const double s = real(attention.positions), h = real(attention.width);
        const HeadElements own = head_elements(attention, share.fraction);
        // A latent vector is kept before and after its normalisation.
        const double latent = s * 2 * real(attention.query_rank) +
                              real(attention.sources()) * (2 * real(attention.kv_rank) + real(attention.rotary_size));
        Kept kept{.between = s * h * around(attention.norm, attention.dropout) + latent * element,
                  .gathered = s * h * element,
                  .part = (own.queries + own.keys + own.values + own.sums) * element};
        if (scores && attention.scores == Scores::stored)
            kept.part += own.scores * (attention.dropout ? 2 * element + 1 : element);
        return kept;
    }
    Kept operator()(const FeedForward& forward) const {
        const double inputs = real(forward.positions * forward.width);
        return {.between = inputs * around(forward.norm, forward.dropout),
                .gathered = inputs * element,
                .part = hidden(forward.gated, real(forward.positions * forward.hidden))};
    }
    Kept operator()(const ParallelBlock& block) const {
        Kept kept = (*this)(block.attention);
        const Kept forward = (*this)(block.forward);
        // One input serves both halves: that of the normalisations, or of the matrices if there is one normalisation.
        kept.between += forward.between;
        if (block.forward.norm != Norm::none) kept.between -= forward.gathered, kept.gathered += forward.gathered;
        kept.part += forward.part;
        return kept;
    }
    Kept operator()(const Experts& experts) const {
        const double s = real(experts.positions), h = real(experts.width);
        // Of the routed experts the rank has another part than of the rest, and fewer tokens.
        const double routed = share.routed ? share.routed->fraction * share.routed->tokens / share.fraction : 1;
        const double units = experts.copies() * share.load * real(experts.hidden) * routed +
                             real(experts.shared * experts.shared_hidden);
        return {.between = s * h * (around(experts.norm, false) + (1 + 2 * experts.copies()) * element) +
                           s * real(experts.experts) * full_precision,
                .part = hidden(experts.gated, s * units)};
    }
    Kept operator()(const Embedding& embedding) const {
        return {.between = embedding.dropout ? real(embedding.positions * embedding.width) : 0};
    }
    Kept operator()(const EmbeddingBag&) const { return {}; }
    Kept operator()(const PatchEmbedding&) const { return {.whole = inputs()}; }
};

/// Activations that remain if every second product, and all that is between products, is computed again.
struct KeptByOperator {
    const Layer& layer;
    double element;
    const Share& share;
    double logits;  ///< see KeptBy

    /// Return the bytes of the products that are not computed again. No backward pass reads those of the last matrix of
    /// a block. All rows have latent vectors.
    Kept products(const Attention& shape) const {
        const std::vector<WeightMatrix> matrices = weight_matrices(shape, share.fraction);
        const std::vector<double> again = outputs_again(shape, share.fraction);
        Kept kept;
        for (std::size_t i = 0; i + 1 < matrices.size(); ++i) {
            const bool latent = (shape.query_rank > 0 && i == 0) || (shape.kv_rank > 0 && i + 3 == matrices.size());
            (latent ? kept.between : kept.part) += matrices[i].positions * (matrices[i].outputs - again[i]) * element;
        }
        return kept;
    }
    Kept products(const FeedForward& shape) const {
        const WeightMatrix up = weight_matrices(shape, share.fraction).front();
        return {.part = up.positions * (up.outputs - outputs_again(shape, share.fraction).front()) * element};
    }
    /// Returns the bytes of the projection's outputs, which are divided by sequence parallelism.
    double projected(const Attention& attention) const {
        return outputs_again(attention, share.fraction).back() > 0 ? 0 : inputs();
    }
    double inputs() const { return real(layer.inputs) * element; }

    Kept operator()(const Attention& attention) const {
        const double sums = attention.scores == Scores::flash ? head_elements(attention, share.fraction).sums : 0;
        Kept kept = products(attention);
        kept.between += inputs() + projected(attention);
        kept.part += sums * element;
        return kept;
    }
    Kept operator()(const FeedForward& forward) const { return products(forward); }
    Kept operator()(const ParallelBlock& block) const {
        Kept kept = (*this)(block.attention);
        kept.between -= projected(block.attention);
        kept.part += products(block.forward).part;
        return kept;
    }
    Kept operator()(const Experts& experts) const {
        const double s = real(experts.positions), h = real(experts.width);
        // With experts on several ranks, the tokens that arrive and the results that return.
        const double exchanged = share.experts < 1 ? experts.copies() * (share.load * share.routed_tokens() + 1) : 0;
        return {.between = s * h * exchanged * element,
                .part = s * real(experts.shared * experts.shared_hidden) * share.fraction * element};
    }
    template <class Other>
    Kept operator()(const Other& shape) const {
        return KeptBy{layer, element, share, false, true, logits}(shape);
    }
};

/// Returns the bytes of each logit that are there while the loss is computed, and of them those that are kept.
double logit_bytes(const Model& model, const Saved& saved) {
    return saved.logit_bytes.value_or(activation_element(model) + full_precision);
}
double kept_logit_bytes(const Model& model, const Saved& saved) {
    return std::min(full_precision, logit_bytes(model, saved));
}

double on_rank(const Kept& kept, const Share& share, std::int64_t sequence_ranks, const Saved& saved = {}) {
    const double whole = kept.whole + (saved.gathered ? kept.gathered : 0);
    const double divided = kept.between + (saved.gathered ? 0 : kept.gathered);
    const double sample = whole + divided / static_cast<double>(sequence_ranks) + kept.part;
    return sample * share.area * share.samples;
}

}  // namespace

double kept_bytes(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks,
                  const Saved& saved) {
    const KeptBy kept{layer, activation_element(model),     share, saved.gate.value_or(false),
                      true,  kept_logit_bytes(model, saved)};
    return on_rank(std::visit(kept, layer.shape), share, sequence_ranks, saved);
}

double kept_without_scores(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks,
                           const Saved& saved) {
    const KeptBy kept{layer, activation_element(model),     share, saved.gate.value_or(false),
                      false, kept_logit_bytes(model, saved)};
    return on_rank(std::visit(kept, layer.shape), share, sequence_ranks, saved);
}

double kept_by_operator(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks,
                        const Saved& saved) {
    const KeptByOperator kept{layer, activation_element(model), share, kept_logit_bytes(model, saved)};
    return on_rank(std::visit(kept, layer.shape), share, sequence_ranks, saved);
}

double loss_bytes(const Model& model, const Layer& layer, const Share& share, const Saved& saved) {
    const auto* dense = std::get_if<Dense>(&layer.shape);
    if (!dense || dense->gathered) return 0;
    return (logit_bytes(model, saved) - kept_logit_bytes(model, saved)) * real(layer.activations) * share.fraction *
           share.area * share.samples;
}

double input_bytes(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks) {
    const double inputs = static_cast<double>(layer.inputs) * activation_element(model);
    return on_rank({.between = inputs}, share, sequence_ranks);
}

}  // namespace syncline
