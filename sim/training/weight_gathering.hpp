#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/arrangement.hpp"
#include "sim/training/rank_passes.hpp"
#include "sim/training/stage_groups.hpp"

/// Gatherings of weights that are divided among ranks (Sharding::parameters), as tasks of a stream of their own.
///
/// The weights of a unit (PlacedLayer::unit) are gathered before each of its passes: a transformer's block, attention
/// with the layers that follow it; layers that are recomputed together; otherwise one layer. The layers of a unit wait
/// for all of its weights. A unit is gathered from the moment at which the one before it begins to compute, and that
/// one's predecessor is released: at most two units' weights are there at a time. This is PyTorch's FSDP with blocks as
/// units, which limits itself to two gatherings (`limit_all_gathers`) and issues the next one before a unit computes,
/// forward and backward (Y. Zhao et al., "PyTorch FSDP", PVLDB 16(12), 2023, sections 3.3 and 3.4). Both, and that of
/// Megatron-Core (megatron/core/distributed/custom_fsdp/fully_sharded_data_parallel.py, _post_backward), exchange the
/// gradients of a unit after the whole unit's backward pass: Passes::complete_unit().
///
/// Left out: embedding and head of PyTorch's outermost unit, which stay gathered during an iteration; that a unit's
/// weights are one message, not one for each layer and one for its experts.
namespace syncline {

class WeightGathering {
public:
    /// All arguments must outlive it. `built`: ranks of a stage that are built, the first ones.
    WeightGathering(TaskGraph& graph, const Arrangement& arrangement, const std::vector<ProcessId>& workers,
                    StageGroups& groups, std::vector<RankPasses>& ranks, std::uint32_t built);

    /// Begins a pass through a part of the model: what was gathered before has been released.
    void begin_pass() { unit_.reset(); }

    /// Returns, by index in the stage, the task after which the weights of a layer's unit are available, if they must
    /// be gathered. Adds the gatherings when the pass comes to the first layer of a unit.
    const std::vector<std::optional<TaskId>>& before(std::uint32_t stage, std::uint32_t layer,
                                                     std::uint32_t micro_batch);

private:
    void gather(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch);

    /// State of a rank.
    struct Cursor {
        StreamId stream = no_stream;
        std::size_t begun = 0;         ///< computations before those of the current unit ...
        std::size_t begun_before = 0;  ///< ... and before those of the unit before it
    };

    TaskGraph& graph_;
    const Arrangement& arrangement_;
    const std::vector<ProcessId>& workers_;
    StageGroups& groups_;
    std::vector<RankPasses>& ranks_;
    const std::uint32_t built_;
    std::vector<Cursor> cursors_;
    std::optional<Segment> unit_;                  ///< of the pass, if it has begun one
    std::vector<std::optional<TaskId>> gathered_;  ///< by index: of `unit_`
    std::map<std::pair<const void*, std::uint32_t>, ExchangeId> exchanges_;
};

}  // namespace syncline
