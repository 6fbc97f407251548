#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/arrangement.hpp"
#include "sim/training/pipeline.hpp"
#include "sim/training/plan.hpp"
#include "sim/training/rank_passes.hpp"
#include "sim/training/stage_groups.hpp"
#include "sim/training/weight_gathering.hpp"

/// Adds the forward and backward passes of all ranks as tasks: the computation of each stage, micro-batch by
/// micro-batch in the order of its schedule, with the exchanges of activations around each layer and the transfers
/// between stages.
///
/// A layer's pass waits for its inputs after their exchange; exchanges of activations run one after the other on a
/// separate stream. The gradients of a layer's inputs are computed first, and exchanged while those of its
/// weights are computed (as Megatron-LM does), unless Plan::hides_input_gradients() is false: then the backward pass is
/// one task, and they are exchanged after it. Products may be computed in chunks (chunked_products.hpp). A transfer to
/// another stage runs concurrently with the next pass, or before it (Pipeline::blocks()). With Sharding::parameters
/// weights are gathered before each pass (weight_gathering.hpp). Layers that are recomputed (recomputation.hpp) run
/// their forward passes and exchanges once more before the backward pass of the segment's last layer, when the
/// gradients of its outputs have arrived, as with PyTorch's checkpoints; their weights are gathered for both passes
/// together. Where the gradients of each micro-batch are exchanged, a barrier ends it, which everything that follows on
/// the rank waits for (gradient_sync.hpp).
///
/// Left out: NCCL's sends, which also wait until the receiver's program is at the receive; the last transfer of an
/// iteration, which nothing waits for.
///
/// Where a schedule computes the gradients of weights later (Gradients), they wait for nothing but the stream, and
/// inputs that have to be gathered again are gathered for them.
///
/// A layer that exchanges data inside (LayerExchanges::forward_rounds) first computes everything except its core, then
/// the rounds of the core, and in the backward pass the gradients of its weights last. Only the sum of what is computed
/// outside of the core counts, and the order of its parts is not modelled.
namespace syncline {

/// Returns true if the gradients of a layer's weights are a task of their own, after those of its inputs.
bool weights_apart(const Plan& plan, const LayerExchanges& exchanges);

/// Returns the number of computations of each rank in these rounds. After a last round that computes and exchanges one
/// more waits for both: it adds up what has arrived, which takes no time.
std::size_t computing_tasks(const std::vector<Round>& rounds);

class Passes {
public:
    /// All arguments must outlive it.
    Passes(TaskGraph& graph, const Cluster& cluster, const Plan& plan, const Arrangement& arrangement,
           const std::vector<ProcessId>& workers);

    /// Returns the passes of each rank; those of ranks that are not built are empty.
    const std::vector<RankPasses>& ranks() const { return ranks_; }

private:
    /// State of a rank while its tasks are added.
    struct Cursor {
        StreamId activations = no_stream;
        StreamId send[2] = {no_stream, no_stream}, receive[2] = {no_stream, no_stream};  ///< backward, forward
        std::optional<TaskId> data;                  ///< after which the data for the next computation is ready
        std::optional<TaskId> input;                 ///< the same at the start of the pass
        std::optional<TaskId> sent;                  ///< the transfer that the pass waits for
        std::vector<std::optional<TaskId>> outputs;  ///< by micro-batch: last pass whose output stays on the stage
    };

    void add_receives(std::uint32_t stage, bool forward);
    void add_slot(std::uint32_t stage, const Slot& slot);
    /// Adds the barrier at the end of a micro-batch, on the ranks of a stage.
    void end_micro_batch(std::uint32_t stage);
    void add_forward(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch, Phase phase);
    void add_backward(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch);
    /// Add the parts of a layer's backward pass, each with its exchanges.
    void add_input_gradients(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch);
    void add_weight_gradients(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch);
    /// Adds what Recomputation::selective computes again. Returns the gathering of the layer's weights.
    std::vector<std::optional<TaskId>> begin_backward(std::uint32_t stage, std::uint32_t layer,
                                                      std::uint32_t micro_batch);
    /// The chunks of an exchange that have arrived, by rank; empty if it is whole.
    using Arrived = std::map<std::uint32_t, std::vector<TaskId>>;
    Arrived add_exchanges(std::uint32_t stage, const std::vector<ActivationExchange>& exchanges, std::uint32_t layer,
                          std::uint32_t micro_batch);
    /// Adds the products that need these chunks, each after its own.
    void add_arriving(std::uint32_t rank, const Arrived& arrived, Phase phase, std::uint32_t layer,
                      std::uint32_t micro_batch, double chunk_s, const std::optional<TaskId>& weights);
    /// Adds products in chunks, each followed by its exchange, on the ranks of a stage.
    void add_leaving(std::uint32_t stage, const ActivationExchange& exchange, Phase phase, std::uint32_t layer,
                     std::uint32_t micro_batch, double chunk_s);
    TaskId add_exchange(std::uint32_t rank, const ActivationExchange& exchange, std::uint32_t layer,
                        std::uint32_t micro_batch);
    /// With weights that are gathered by unit, the gradients of a unit's layers are complete together, with those of
    /// the first one, which are computed last. To be called after each layer's.
    void complete_unit(std::uint32_t rank, std::uint32_t layer);
    /// Adds the rounds of a layer's core, after which the rank's data are ready.
    void add_rounds(std::uint32_t rank, const std::vector<Round>& rounds, Phase phase, std::uint32_t layer,
                    std::uint32_t micro_batch, double core_s);
    void add_send(std::uint32_t stage, std::uint32_t boundary, std::uint32_t micro_batch, bool forward);

    /// Adds a task to a stream of a rank, after the data that it works on.
    TaskId add(std::uint32_t rank, const Task& task);
    TaskId compute(std::uint32_t rank, Phase phase, std::uint32_t layer, std::uint32_t micro_batch, double seconds,
                   const std::optional<TaskId>& weights);
    /// Adds a computation that is no pass of its own.
    TaskId add_chunk(std::uint32_t rank, Phase phase, std::uint32_t layer, std::uint32_t micro_batch, double seconds,
                     const std::optional<TaskId>& weights);
    StreamId open(std::uint32_t rank, StreamId& stream, StreamKind kind);
    ExchangeId transfer(std::uint32_t boundary, bool forward, std::uint32_t index);
    std::uint32_t rank_of(std::uint32_t stage, std::uint32_t index) const {
        return stage * arrangement_.stage_ranks + index;
    }

    TaskGraph& graph_;
    const Plan& plan_;
    const Arrangement& arrangement_;
    const std::vector<ProcessId>& workers_;
    const double gamma_s_per_B_;
    const std::uint32_t syncs_;  ///< gradient_syncs()
    const std::uint32_t built_;  ///< ranks of a stage that are built, the first ones
    std::vector<RankPasses> ranks_;
    std::vector<Cursor> cursors_;
    StageGroups groups_;
    WeightGathering weights_;
    std::map<std::pair<const void*, std::uint32_t>, ExchangeId> exchanges_;
    /// received_[forward][boundary · micro-batches + micro-batch][index]; boundary i follows part i of the model.
    std::vector<std::vector<TaskId>> received_[2];
    std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, ExchangeId> transfers_;
    std::shared_ptr<const CollectiveAlgorithm> pass_on_;
};

}  // namespace syncline
