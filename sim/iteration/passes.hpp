#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/iteration/operations.hpp"
#include "sim/iteration/rank_passes.hpp"
#include "sim/iteration/stage_groups.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Adds the forward and backward passes of all ranks as tasks: the operations of each stage (operations.hpp),
/// micro-batch by micro-batch in the order of its schedule, and the transfers between stages.
///
/// A transfer to another stage runs concurrently with the next pass, or before it (Pipeline::blocks()). Where the
/// gradients of each micro-batch are exchanged, a barrier ends it, which everything that follows on the rank waits for
/// (gradient_sync.hpp).
///
/// Left out: NCCL's sends, which also wait until the receiver's program is at the receive; the last transfer of an
/// iteration, which nothing waits for.
namespace syncline {

class Passes {
public:
    /// All arguments must outlive it.
    Passes(TaskGraph& graph, const Lowered& training, const std::vector<ProcessId>& workers);

    /// Returns the passes of each rank; those of ranks that are not built are empty.
    const std::vector<RankPasses>& ranks() const { return ranks_; }

private:
    /// State of a rank while its tasks are added.
    struct Cursor {
        StreamId activations = no_stream, weights = no_stream;
        StreamId send[2] = {no_stream, no_stream}, receive[2] = {no_stream, no_stream};  ///< backward, forward
        TaskId sent = no_task;          ///< the transfer that the pass waits for
        std::vector<TaskId> outputs;    ///< by micro-batch: last pass whose output stays on the stage
        TaskId begun = no_task;         ///< the computation before the current unit's ...
        TaskId begun_before = no_task;  ///< ... and before that of the unit before it
    };
    using ByIndex = std::vector<TaskId>;  ///< a task on each rank of a stage that is built, or no_task

    void add_receives(std::uint32_t stage, bool forward);
    void add_slot(std::uint32_t stage, const Slot& slot);
    /// Returns what a pass of this virtual stage begins with.
    ByIndex input_of(std::uint32_t stage, std::uint32_t virtual_stage, const Slot& slot);
    /// Adds the operations of a pass on the ranks of a stage. Returns its output.
    ByIndex add_pass(std::uint32_t stage, const PassProgram& pass, std::uint32_t micro_batch, const ByIndex& input);
    /// Adds the barrier at the end of a micro-batch, on the ranks of a stage.
    void end_micro_batch(std::uint32_t stage);
    TaskId add_computation(std::uint32_t rank, const Operation& operation, std::uint32_t micro_batch, TaskId data);
    TaskId add_exchange(std::uint32_t rank, const ActivationExchange& exchange, std::uint32_t layer,
                        std::uint32_t micro_batch, TaskId data, bool first);
    TaskId add_gathering(std::uint32_t rank, const Operation& operation, std::uint32_t micro_batch);
    void add_send(std::uint32_t stage, std::uint32_t boundary, std::uint32_t micro_batch, bool forward,
                  const ByIndex& output);

    /// Adds a task to a stream of a rank, after the data that it works on. `first`: these are the input of the pass,
    /// which begins when what was sent before has arrived.
    TaskId add(std::uint32_t rank, const Task& task, TaskId data, bool first);
    StreamId open(std::uint32_t rank, StreamId& stream, StreamKind kind);
    /// Returns the task of an exchange on a rank, without its stream.
    Task task_of(std::uint32_t rank, const ActivationExchange& exchange, std::uint32_t layer, std::uint32_t micro_batch,
                 std::uint32_t channel, double gamma_s_per_B);
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
    const std::vector<VirtualStagePasses> virtual_stages_;
    std::vector<RankPasses> ranks_;
    std::vector<Cursor> cursors_;
    StageGroups groups_;
    std::map<std::pair<const void*, std::uint32_t>, ExchangeId> exchanges_;
    /// received_[forward][boundary · micro-batches + micro-batch][index]; boundary i follows virtual stage i.
    std::vector<ByIndex> received_[2];
    std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, ExchangeId> transfers_;
    std::shared_ptr<const CollectiveAlgorithm> pass_on_;
};

}  // namespace syncline
