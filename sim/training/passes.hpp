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

/// Forward and backward passes of all ranks as tasks: what a stage computes, micro-batch by micro-batch in the order of
/// its schedule, with the exchanges of activations around each layer and the transfers between stages.
///
/// A layer's pass waits for its inputs, as exchanged; exchanges of activations go one after the other on a stream of
/// their own. With Overlap::none a layer's backward pass is one task and the gradients of its inputs are exchanged
/// behind it; else they are computed first, and exchanged while those of its weights are (as Megatron-LM does). A
/// transfer to another stage runs beside what comes next. With Sharding::parameters a layer's weights are gathered
/// before each of its passes, while the one before computes: at most two layers' at a time.
namespace syncline {

/// Streams between the same two processes use channels of their own.
enum Channel : std::uint32_t {
    gradient_channel,
    activation_channel,
    forward_channel,
    backward_channel,
    weight_channel
};

/// What the rest of an iteration has to know of a rank.
struct RankPasses {
    ProcessId process = 0;
    StreamId compute = 0;
    std::vector<TaskId> computed;   ///< all that its passes compute, in order
    std::vector<TaskId> forward;    ///< by layer of the model: the first micro-batch's pass; only of the rank's own
    std::vector<TaskId> gradients;  ///< by layer: after which all micro-batches' gradients of its weights are there
    std::vector<TaskId> inputs;     ///< exchanges of the model's inputs, which nothing in this iteration comes before
    /// Gatherings of weights that nothing in this iteration comes before, but the update in the one before.
    std::vector<TaskId> gathered;
};

class Passes {
public:
    /// All outlive it.
    Passes(TaskGraph& graph, const Cluster& cluster, const Plan& plan, const Arrangement& arrangement,
           const std::vector<ProcessId>& workers);

    const std::vector<RankPasses>& ranks() const { return ranks_; }

private:
    static constexpr StreamId no_stream = ~StreamId{0};

    /// A rank, while its tasks are added.
    struct Cursor {
        StreamId activations = no_stream, weights = no_stream;
        StreamId send[2] = {no_stream, no_stream}, receive[2] = {no_stream, no_stream};  ///< backward, forward
        std::optional<TaskId> data;                  ///< after which what is computed on next is there
        std::vector<std::optional<TaskId>> outputs;  ///< by micro-batch: of the last pass that no other stage takes
    };

    void add_receives(std::uint32_t stage, bool forward);
    void add_slot(std::uint32_t stage, const Slot& slot);
    void add_forward(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch);
    void add_backward(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch);
    void add_exchanges(std::uint32_t stage, const std::vector<ActivationExchange>& exchanges, std::uint32_t layer,
                       std::uint32_t micro_batch);
    void add_send(std::uint32_t stage, std::uint32_t boundary, std::uint32_t micro_batch, bool forward);
    /// By index in the stage: after which the layer's weights are there, where they have to be gathered.
    std::vector<std::optional<TaskId>> gather(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch);

    /// A task on a stream of a rank, behind the data that it works on.
    TaskId add(std::uint32_t rank, const Task& task);
    TaskId compute(std::uint32_t rank, Phase phase, std::uint32_t layer, std::uint32_t micro_batch, double seconds,
                   const std::optional<TaskId>& weights);
    StreamId open(std::uint32_t rank, StreamId& stream, StreamKind kind);
    GroupId group(std::uint32_t stage, const Grouping& grouping, std::uint32_t first);
    ExchangeId transfer(std::uint32_t boundary, bool forward, std::uint32_t index);
    /// Whether a rank's row has a part of the layer.
    bool has_part(std::uint32_t rank, std::uint32_t layer) const;
    std::uint32_t rank_of(std::uint32_t stage, std::uint32_t index) const {
        return stage * arrangement_.stage_ranks + index;
    }

    TaskGraph& graph_;
    const Plan& plan_;
    const Arrangement& arrangement_;
    const std::vector<ProcessId>& workers_;
    const double gamma_s_per_B_;
    std::vector<RankPasses> ranks_;
    std::vector<Cursor> cursors_;
    std::map<std::pair<std::uint32_t, std::pair<Grouping, std::uint32_t>>, GroupId> groups_;
    std::map<std::pair<const void*, std::uint32_t>, ExchangeId> exchanges_;
    /// received_[forward][boundary · micro-batches + micro-batch][index]; boundary i is behind part i of the model.
    std::vector<std::vector<TaskId>> received_[2];
    std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, ExchangeId> transfers_;
    std::shared_ptr<const CollectiveAlgorithm> pass_on_;
};

}  // namespace syncline
