#pragma once

#include <cstdint>
#include <vector>

#include "sim/lowering/lowered.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Adds the forward and backward passes of all ranks as tasks: the operations of each stage (operations.hpp),
/// microbatch by microbatch in the order of its schedule, and the transfers between stages.
///
/// A transfer to another stage runs concurrently with the next pass, or before it (Pipeline::blocks()). Where the
/// gradients of each microbatch are exchanged, a barrier ends it, which everything that follows on the rank waits for
/// (gradient_sync.hpp).
///
/// Left out: NCCL's sends, which also wait until the receiver's program is at the receive; the last transfer of an
/// iteration, which nothing waits for.
namespace syncline {

/// Channels, which keep apart the messages of different streams between the same two processes.
enum Channel : std::uint32_t {
    gradient_channel,
    shard_channel,  ///< of gradients, too: the exchanges of their shards, which have streams of their own
    activation_channel,
    forward_channel,
    backward_channel,
    weight_channel
};

/// A gathering of weights by a rank.
struct Gathering {
    Grouping among;
    TaskId task = 0;
    TaskId after = no_task;  ///< the computation that it waits for, if there is one in this iteration
};

/// End of a microbatch whose gradients are exchanged before the next one begins: see gradient_sync.hpp.
struct MicroBatchEnd {
    TaskId computed = 0;            ///< its last computation
    std::vector<TaskId> gradients;  ///< by layer: after which the gradients of its weights are computed
    TaskId barrier = 0;             ///< takes no time; everything that follows on the rank waits for it
};

/// Tasks of a rank that the rest of an iteration refers to.
struct RankPasses {
    ProcessId process = 0;
    StreamId compute = 0;
    TaskId first_computed = no_task, last_computed = no_task;  ///< computations of its passes
    std::vector<TaskId> forward;    ///< by layer of the model, for its own layers: the first microbatch's first task
    std::vector<TaskId> gradients;  ///< by layer: after which the gradients of its weights are complete
    std::vector<TaskId> inputs;     ///< exchanges of the model's inputs, which wait for nothing in this iteration
    /// Gatherings of weights that depend on nothing in this iteration, but on the update in the previous one.
    std::vector<TaskId> gathered;
    std::vector<Gathering> gatherings;  ///< all gatherings of weights, in order
    std::vector<MicroBatchEnd> ends;    ///< of all microbatches but the last, if each one's gradients are exchanged
};

/// Returns the passes of each rank; those of ranks that are not built are empty.
std::vector<RankPasses> add_passes(TaskGraph& graph, const Lowered& training, const std::vector<ProcessId>& workers);

}  // namespace syncline
