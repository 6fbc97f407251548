#include "sim/training/weight_gathering.hpp"

#include <algorithm>

namespace syncline {

WeightGathering::WeightGathering(TaskGraph& graph, const Arrangement& arrangement,
                                 const std::vector<ProcessId>& workers, StageGroups& groups,
                                 std::vector<RankPasses>& ranks, std::uint32_t built)
    : graph_(graph),
      arrangement_(arrangement),
      workers_(workers),
      groups_(groups),
      ranks_(ranks),
      built_(built),
      cursors_(workers.size()) {}

const std::vector<std::optional<TaskId>>& WeightGathering::before(std::uint32_t stage, std::uint32_t layer,
                                                                  std::uint32_t micro_batch) {
    const Segment& unit = arrangement_.layers[layer].unit;
    if (unit_ == unit) return gathered_;
    unit_ = unit;
    gathered_.assign(built_, std::nullopt);
    for (std::uint32_t index = 0; index < built_; ++index) {
        const std::uint32_t rank = stage * arrangement_.stage_ranks + index;
        Cursor& cursor = cursors_[rank];
        cursor.begun_before = std::exchange(cursor.begun, ranks_[rank].computed.size());
    }
    for (std::uint32_t each = unit.first; each < unit.end; ++each) gather(stage, each, micro_batch);
    return gathered_;
}

void WeightGathering::gather(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch) {
    const PlacedLayer& placed = arrangement_.layers[layer];
    PlacedLayer::each_weights(placed, [&](const Grouping& shards, std::uint64_t bytes, const auto& algorithm) {
        if (!algorithm) return;
        for (std::uint32_t index = 0; index < built_; ++index) {
            if (!placed.has_part(index)) continue;
            const std::uint32_t rank = stage * arrangement_.stage_ranks + index, first = shards.first(index);
            const auto [found, added] = exchanges_.try_emplace({&algorithm, first});
            if (added)
                found->second =
                    graph_.add_exchange({algorithm, groups_.of(stage, shards, first), weight_channel, bytes});
            Cursor& cursor = cursors_[rank];
            if (cursor.stream == no_stream) cursor.stream = graph_.add_stream(workers_[rank], StreamKind::weights);
            Task task{cursor.stream, Phase::weights, layer};
            task.exchange = found->second;
            task.member = shards.member(index);
            task.micro_batch = micro_batch;
            const TaskId id = graph_.add_task(task);
            RankPasses& passes = ranks_[rank];
            Gathering& gathering = passes.gatherings.emplace_back(Gathering{shards, id});
            if (cursor.begun_before > 0) {
                gathering.after = passes.computed[cursor.begun_before - 1];
                if (!passes.ends.empty()) gathering.after = std::max(gathering.after, passes.ends.back().barrier);
                graph_.depend(id, gathering.after);
            } else {
                passes.gathered.push_back(id);
            }
            gathered_[index] = id;  // gatherings of a rank are in order
        }
    });
}

}  // namespace syncline
