#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/grouping.hpp"
#include "sim/training/plan.hpp"
#include "sim/workload/model.hpp"

/// A plan's ways of splitting, worked out for a model: which layers are where, what part of each a rank has, and what
/// ranks exchange around it.
namespace syncline {

/// An exchange of activations, or of their gradients, in every group of a stage, for one micro-batch.
struct ActivationExchange {
    Grouping groups;
    AlgorithmSpec spec;  ///< of what the library of collectives has; nothing of a halo
    std::shared_ptr<const CollectiveAlgorithm> algorithm;
    /// Of a group's buffer, as the operation counts it (see AlgorithmSpec). Groups that begin `size`·`stride` ranks
    /// later take the next of these, and the first again behind the last.
    std::vector<std::uint64_t> bytes;
    Phase phase = Phase::activations;

    /// Of the group that begins with this index in its stage.
    std::uint64_t bytes_of(std::uint32_t first) const {
        return bytes[first / (groups.size * groups.stride) % bytes.size()];
    }
};

/// What a layer exchanges, in order.
struct LayerExchanges {
    std::vector<ActivationExchange> before_forward;   ///< its inputs
    std::vector<ActivationExchange> after_forward;    ///< its outputs
    std::vector<ActivationExchange> before_backward;  ///< the gradients of its outputs
    /// Its inputs once more, of which only a part was kept: the gradients of the weights wait for them, those of the
    /// inputs do not.
    std::vector<ActivationExchange> beside_backward;
    std::vector<ActivationExchange> after_backward;  ///< the gradients of its inputs, once they are computed
};

/// A layer on the ranks of its stage.
struct PlacedLayer {
    Layout layout;
    std::uint32_t part = 0;  ///< of the model: chunk part / stages of stage part mod stages
    Share share;             ///< of one rank that has a part, of one micro-batch
    /// Rows that have a part: all have ⌈parts/rows⌉ of the layer's parts (see parts_of), so that the last rows may have
    /// none.
    std::uint32_t contributors = 1;
    /// As many parts as if every contributor had ⌈parts/rows⌉, over what there are: 1 where they divide.
    double padded = 1;
    LayerTime time;           ///< of one micro-batch, on a rank that has a part
    std::uint64_t bytes = 0;  ///< of the weights, and the gradients, of a rank that has a part
    Grouping replicas;        ///< the ranks with the same weights
    LayerExchanges exchanges;
};

struct Arrangement {
    std::uint32_t stages = 1, chunks = 1, stage_ranks = 1, micro_batches = 1;
    std::vector<PlacedLayer> layers;  ///< of the model, in forward order
    /// First layer of each part of the model, and behind the last part the number of layers.
    std::vector<std::uint32_t> first_layer;
    /// Of one micro-batch: what rank i of a stage passes on to rank i of the next one, behind each part.
    std::vector<std::uint64_t> transfer_bytes;
};

/// What cannot be done with this model. `key`: of `parallelism`: "grid", "domain", "pipeline",
/// "layers", "sequence", "activations".
class ParallelismError : public std::runtime_error {
public:
    ParallelismError(std::string blamed, const std::string& message, std::string advice = "")
        : std::runtime_error(message), key(std::move(blamed)), hint(std::move(advice)) {}
    std::string key, hint;
};

/// Throws ParallelismError.
///
/// Exchanges of a layer of which rows > 1 ranks have a part each, with b samples in a micro-batch (A. Castelló et al.,
/// A. Gholami et al.): Split::outputs: forward an allgather of b·activations, backward an all-reduce of b·inputs, not
/// for the first layer. Split::inside: both are all-reduces, see Split. Cells of an image: before a convolution with a
/// kernel larger than 1×1 ranks send ⌊kh/2⌋ rows of their inputs to their neighbours, up and down, then ⌊kw/2⌋ columns
/// left and right, as long as what they have then: the corners come with them. The same of the gradients of their
/// outputs before its backward pass.
///
/// With sequence parallelism each row holds 1/rows of what is between layers: a layer gathers its inputs, and again for
/// the gradients of its weights, and reduces and scatters its partial sums; it gathers the gradients of its outputs,
/// and reduces and scatters those of its inputs (V. Korthikanti et al., 2023). All layers are laid out alike then.
///
/// Contributions to an allgather are counted as equal, also where the last row has fewer parts than the others: the
/// largest decides over the time, and the bytes are a little too many then.
///
/// Where layers are laid out differently, activations move between ranks: an allgather where more rows need more of the
/// samples (and the sums of their gradients go back by a reduce-scatter, in place of the all-reduce), nothing where
/// fewer do (and an allgather backwards), an all-to-all between cells and columns.
Arrangement arrange(const Cluster& cluster, const Model& model, const Plan& plan);

}  // namespace syncline
