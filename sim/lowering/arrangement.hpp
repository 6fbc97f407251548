#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/lowering/compressed.hpp"
#include "sim/lowering/document_work.hpp"
#include "sim/lowering/grouping.hpp"
#include "sim/lowering/recomputed_spans.hpp"
#include "sim/lowering/stage_division.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "sim/workload/model.hpp"

/// A plan's parallelism applied to a model: the stage of each layer, the part of it that a rank has, and the exchanges
/// of ranks around it.
namespace syncline {

/// An exchange of activations, or of their gradients, in every group of a stage, for one microbatch.
struct ActivationExchange {
    Grouping groups;
    AlgorithmSpec spec;  ///< for algorithms of the collective library; its name is empty for others
    std::shared_ptr<const CollectiveAlgorithm> algorithm;  ///< without channels, which Lowered adds
    /// Size of a group's buffer, as the operation counts it (see AlgorithmSpec). The list is used cyclically: groups
    /// that begin `size`·`stride` ranks later take the next entry.
    std::vector<std::uint64_t> bytes;
    Phase phase = Phase::activations;
    std::uint32_t chunks = 1;  ///< number of exchanges of these sizes, one after the other: see chunked_products.hpp
    Protocol protocol = {};    ///< which Lowered adds, too
    /// The exchange begins when the device has computed what was issued before, and so overlaps with nothing.
    bool synchronous = false;

    /// Returns true for an algorithm of the collective library, which Lowered may make with channels.
    bool in_library() const { return !spec.name.empty(); }
    bool between_neighbours() const { return !in_library() && spec.operation != "all-to-all"; }

    /// Returns the size for the group that begins with this index in its stage.
    std::uint64_t bytes_of(std::uint32_t first) const {
        return bytes[first / (groups.size * groups.stride) % bytes.size()];
    }
};

/// A part of the computation of a layer's core (Kernel::core), and an exchange that begins with it. Both are over when
/// the next step begins.
struct CoreStep {
    std::optional<ActivationExchange> exchange;
    double fraction = 0;  ///< of the core; 0: nothing is computed
};

/// Exchanges of a layer, in order.
struct LayerExchanges {
    std::vector<ActivationExchange> before_forward;   ///< of its inputs
    std::vector<ActivationExchange> after_forward;    ///< of its outputs
    std::vector<ActivationExchange> before_backward;  ///< of the gradients of its outputs
    /// Of its inputs once more, if only a part was kept: the gradients of the weights wait for them, the gradients of
    /// the inputs do not.
    std::vector<ActivationExchange> beside_backward;
    std::vector<ActivationExchange> after_backward;  ///< of the gradients of its inputs, once computed
    /// All-gathers of its weights and of those of its experts before each pass, if they are divided: see Lowered.
    std::vector<ActivationExchange> weights;
    /// The core, after the rest of the forward pass, and of the gradients of the inputs, whose parts add up to 1;
    /// empty: nothing is exchanged inside the layer.
    std::vector<CoreStep> forward_core, backward_core;

    /// Visits the exchanges of the forward pass, which are const if `self` is.
    template <class Self, class Visitor>
    static void each_forward(Self& self, Visitor visit) {
        for (auto* list : {&self.before_forward, &self.after_forward})
            for (auto& exchange : *list) visit(exchange);
        for (auto& step : self.forward_core)
            if (step.exchange) visit(*step.exchange);
    }

    /// Visits all exchanges of activations.
    template <class Self, class Visitor>
    static void each(Self& self, Visitor visit) {
        for (auto* list : {&self.before_forward, &self.after_forward, &self.before_backward, &self.beside_backward,
                           &self.after_backward})
            for (auto& exchange : *list) visit(exchange);
        for (auto* steps : {&self.forward_core, &self.backward_core})
            for (auto& step : *steps)
                if (step.exchange) visit(*step.exchange);
    }
};

/// The experts of a layer that are divided among ranks: see expert_parallelism.hpp.
struct PlacedExperts {
    Grouping group;                  ///< the ranks that divide them
    std::uint32_t rows = 1;          ///< expert rows: neighbours that divide each of them
    std::uint32_t node_ranks = 0;    ///< members of the group on each node, if tokens are deduplicated
    std::uint64_t bytes = 0;         ///< of the gradients of a rank's experts ...
    std::uint64_t weight_bytes = 0;  ///< ... and of their weights
    Grouping replicas;               ///< the ranks that have the same experts ...
    Grouping shards;                 ///< ... and those among which Sharding divides their state
    /// By member of the group: tokens in units of an equal share, and times of the layer; empty: all are alike.
    std::vector<double> loads;
    std::vector<LayerTime> times;
};

/// Products of a layer that are computed in chunks, beside the exchanges of other chunks: see chunked_products.hpp.
struct ChunkedProducts {
    std::uint32_t chunks = 1;
    /// Times of one chunk: of the products that read the layer's inputs, and of those that give its outputs, or the
    /// gradients of what these read. 0: not in chunks.
    double inputs_forward_s = 0, outputs_forward_s = 0, outputs_backward_s = 0;

    /// Return the times of all chunks.
    double forward_s() const { return chunks * (inputs_forward_s + outputs_forward_s); }
    double backward_s() const { return chunks * outputs_backward_s; }
};

/// A layer on the ranks of its stage.
struct PlacedLayer {
    Layout layout;
    std::uint32_t virtual_stage = 0;  ///< of the model, on stage virtual_stage mod stages
    Share share;                      ///< of one rank that has a part, for one microbatch
    /// Number of rows that have a part: all have ⌈parts/rows⌉ of the layer's parts (see parts_of), so the last rows may
    /// have none.
    std::uint32_t contributors = 1;
    /// Number of parts if every contributor had ⌈parts/rows⌉, divided by the actual number: 1 if they divide evenly.
    double padded = 1;
    LayerTime time;           ///< for one microbatch, on the slowest rank that has a part
    double recompute_s = 0;   ///< computed again before its backward pass: see Recomputation
    bool recomputed = false;  ///< its whole forward pass is, with its exchanges, before the backward pass of `unit`
    std::uint64_t bytes = 0;  ///< of the gradients of a rank that has a part ...
    std::uint64_t weight_bytes = 0;  ///< ... and of its weights, without its experts in `experts`
    Grouping replicas;               ///< the ranks that hold the same weights ...
    Grouping shards;                 ///< ... and those among which Sharding divides their state
    LayerSpan unit = {};             ///< the layers whose divided weights are gathered together
    std::optional<PlacedExperts> experts;
    ChunkedProducts chunked = {};  ///< part of `time`
    Compressed compressed = {};    ///< its gradients in the exchange, with Plan::compression
    LayerExchanges exchanges;

    /// Visits the layer's weights and those of its experts: the ranks that divide them, and their bytes.
    template <class Visitor>
    void each_weights(Visitor visit) const {
        visit(shards, weight_bytes);
        if (experts) visit(experts->shards, experts->weight_bytes);
    }

    /// Returns true if the row of the rank with this index in its stage has a part.
    bool has_part(std::uint32_t index) const { return index % static_cast<std::uint32_t>(layout.rows) < contributors; }

    /// Returns the times of the rank with this index in its stage.
    const LayerTime& time_of(std::uint32_t index) const {
        return experts && !experts->times.empty() ? experts->times[experts->group.member(index)] : time;
    }
};

/// Passage of a microbatch's activations from a virtual stage to the next, and of their gradients back.
struct Boundary {
    std::uint64_t bytes = 0;  ///< that rank i of a stage passes on to rank i of the next one, and the other way
    /// The receiving rows gather their shares, if each one's sender has passed on its own (Pipeline::scatter_gather).
    std::optional<ActivationExchange> activations = {}, gradients = {};
};

struct Arrangement {
    std::uint32_t stages = 1, virtual_stages = 1, stage_ranks = 1, micro_batches = 1;
    std::vector<PlacedLayer> layers;  ///< of the model, in forward order
    /// First layer of each virtual stage, followed by the number of layers.
    std::vector<std::uint32_t> first_layer;
    std::vector<Boundary> boundaries;            ///< after each virtual stage but the last
    Pipeline pipeline;                           ///< the plan's
    std::optional<DocumentWork> documents = {};  ///< of which samples are made

    /// Returns the stage that a virtual stage is on.
    std::uint32_t stage_of(std::uint32_t virtual_stage) const { return pipeline.stage_of(virtual_stage); }

    /// Returns whether no earlier layer is recomputed together with this one.
    bool begins_span(std::uint32_t layer) const {
        return !layers[layer].recomputed || layers[layer].unit.first == layer;
    }

    /// Returns the layers whose whole forward pass is computed again just before the backward pass of this one.
    LayerSpan again_before(std::uint32_t layer) const {
        const PlacedLayer& placed = layers[layer];
        return placed.recomputed && placed.unit.end == layer + 1 ? placed.unit : LayerSpan{};
    }
};

/// Returns the groups of ranks that have the same shard.
inline Grouping copies_of(const Grouping& replicas, const Grouping& shards) {
    return {replicas.size / shards.size, replicas.stride * shards.size};
}

/// Parallelism that is impossible for this model. `key` is the key of `parallelism` to blame: "model", "domain",
/// "layers", "sequence", "context", "experts", "experts.model", "activations", "sharding".
class ParallelismError : public std::runtime_error {
public:
    ParallelismError(std::string blamed, const std::string& message, std::string advice = "")
        : std::runtime_error(message), key(std::move(blamed)), hint(std::move(advice)) {}
    std::string key, hint;
};

/// Returns how the plan's framework runs kernels.
Software software_of(const Model& model, const Plan& plan);

/// Returns the times by which layers are divided among stages.
std::vector<PassTimes> pass_times(const std::vector<PlacedLayer>& layers);

/// Applies the plan's parallelism. Layouts divide the ranks of a stage, ranges name layers of the model, and the parts
/// of a pipeline add up to its layers: see feasibility.hpp. Throws ParallelismError for what only the arrangement
/// shows.
///
/// A layer of which rows > 1 ranks have a part each, with b samples in a microbatch, has these exchanges (A. Castelló
/// et al., A. Gholami et al.). Split::outputs: forward an allgather of b·activations, backward an all-reduce of
/// b·inputs, except for the first layer. Split::inside: both are all-reduces. Cells of an image: before a convolution
/// with a kernel larger than 1×1, ranks send ⌊kh/2⌋ rows of their inputs up and down, then ⌊kw/2⌋ columns left and
/// right, with the rows that they have received; likewise the gradients of their outputs before the backward pass.
/// Sequence parallelism: a layer gathers its inputs, again for the gradients of its weights, and reduces and scatters
/// its partial sums; likewise the gradients of outputs and inputs (V. Korthikanti et al., 2023); all layers have the
/// same layout.
///
/// Contributions to an allgather are counted as equal, even if the last row has fewer parts. Between layers with
/// different layouts activations move by an allgather if more rows need more of the samples (their gradients return by
/// a reduce-scatter, in place of the all-reduce), not at all if fewer rows do (and by an allgather in the backward
/// pass), by an all-to-all between cells and columns.
Arrangement arrange(const Cluster& cluster, const Model& model, const Plan& plan);

}  // namespace syncline
