#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/taskgraph/varying_work.hpp"
#include "sim/workload/model.hpp"

/// Work of attention on samples that are packs of documents (document_packing.hpp). Tokens look only at those of their
/// own document (document mask, variable-length attention): a document of n tokens has the scores of a sequence of n,
///
///     n²,  with a causal mask n(n+1)/2,  with a window of w < n tokens nw, causal w(w+1)/2 + (n-w)w,
///
/// so that a document costs a·n + b·n², and packs of equal tokens have unequal work. The FLOP of attention's core
/// (Kernel::core), and its rate where it depends on the sequence, are those of the mean of all sequences of the
/// measured iterations (Share::scores): those of the plan but the first one, or all where there are faults. A pass of a
/// microbatch takes as much longer for its core as its scores exceed the mean, on all stages and ranks of its replica;
/// all else takes the same time. Padding is computed like tokens.
///
/// Sequences are given to replica 0's first microbatch, then its second, …, then to replica 1's. All draws follow from
/// the seed, and those of iteration i + 1 from where iteration i stopped; a longer replay begins with the same
/// iterations.
///
/// Left out: bytes that a core moves and its launches, which vary like its FLOP; waits for the host that a shorter core
/// would leave; context-parallel ranks with unequal shares of documents (they have equal ones, as if each document were
/// divided among them), and that their rings skip other documents' blocks; fewer keys and values to exchange; what the
/// model counts as FLOP, which remain those of whole sequences; that other iterations are measured where a pattern of
/// exchanges or of reading comes round only after several, or an exchange has several to finish.
namespace syncline {

/// Work of a plan's attention layers relative to whole sequences of one document.
struct DocumentWork {
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    std::vector<std::uint32_t> kinds;  ///< by layer: the mask of its attention among those of all layers, or none
    std::vector<double> scores;        ///< by kind: mean over measured sequences, as a fraction of the whole sequence's
    std::uint32_t replicas = 1, micro_batches = 1;
    /// By row(): a microbatch's scores in units of the mean. Null if all are equal.
    std::shared_ptr<const VaryingWork> varying;
    double padding = 0;  ///< fraction of the measured positions without a token

    double scores_of(std::size_t layer) const { return kinds[layer] == none ? 1 : scores[kinds[layer]]; }
    /// Returns the row of a microbatch of a layer with attention.
    std::uint32_t row(std::uint32_t layer, std::int64_t replica, std::uint32_t micro_batch) const {
        return (kinds[layer] * replicas + static_cast<std::uint32_t>(replica)) * micro_batches + micro_batch;
    }
    /// Returns a microbatch's work of a kind in units of the mean.
    double factor(std::uint32_t row, std::uint32_t iteration) const {
        return varying ? varying->factor(row, iteration) : 1;
    }
};

/// Returns the number of scores of one head in a document of `tokens`.
double scores_of(const Attention& attention, std::int64_t tokens);

/// Returns the work of the iterations that a replay has. The plan has documents, and the model attention, all of it
/// over sequences of one length.
DocumentWork document_work(const Model& model, const Plan& plan);

}  // namespace syncline
