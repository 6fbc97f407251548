#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/iteration/exchange.hpp"
#include "sim/iteration/passes.hpp"
#include "sim/lowering/lowered.hpp"

/// Exchange of gradients by collectives, among ranks that hold the same weights, and gathering of the weights that they
/// have updated in shares: tasks of one iteration (iteration.hpp). Buckets of a group are exchanged one after the
/// other, and with sharded weights in turn with the gatherings of these (passes.hpp).
namespace syncline {

class GradientExchange {
public:
    GradientExchange(TaskGraph& graph, const Lowered& training, const std::vector<ProcessId>& workers,
                     const std::vector<RankPasses>& passes)
        : graph_(graph), training_(training), workers_(workers), passes_(passes) {}

    /// Adds the exchanges of the gradients of all microbatches but the last, if each one's are exchanged, before the
    /// barriers behind them.
    void sync_micro_batches();

    /// Adds the exchanges of gradients, of a microbatch or of all together. `ready`: the tasks that they wait for.
    Arrivals reduce(const Ready& ready, std::uint32_t micro_batch = 0);

    /// Returns the tasks after which a rank has its share of reduced gradients, by bucket and rank.
    Ready reduced(const Arrivals& results) const { return reduced_.empty() ? tasks_of(results) : reduced_; }

    /// Adds the gatherings of the weights of which every rank has updated its share, if there are any. `stepped`: the
    /// last task of each rank's optimizer, or no_task.
    void gather(const std::vector<TaskId>& stepped, Arrivals& results);

    /// Adds the same gatherings to the start of the iteration, in the order of the forward passes. Returns each rank's.
    std::vector<std::vector<Arrival>> gather_before_forward();

private:
    using Streams = std::map<std::uint32_t, StreamId>;

    std::vector<std::vector<std::uint32_t>> built_groups(const Bucket& bucket, const Grouping& among) const;
    Ready tasks_of(const Arrivals& arrivals) const;
    void order_beside_gatherings(const Ready& ready, const Arrivals& exchanged);
    void hold_up(std::size_t rank, const Gathering& gathering, TaskId before);
    StreamId stream_of(std::uint32_t rank, Streams& streams, StreamKind kind);
    void add_runs(const std::vector<Collective>& collectives, const std::vector<Grouping>& among, const Ready* ready,
                  bool agree, Streams& rank_streams, Arrivals& results);

    TaskGraph& graph_;
    const Lowered& training_;
    const std::vector<ProcessId>& workers_;
    const std::vector<RankPasses>& passes_;
    Streams streams_, shard_streams_;  ///< by rank
    Ready reduced_;                    ///< the last exchanges of gradients, if there are several; else empty
};

}  // namespace syncline
