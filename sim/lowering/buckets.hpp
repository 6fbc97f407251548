#pragma once

#include <cstdint>
#include <vector>

#include "sim/lowering/compressed.hpp"
#include "sim/lowering/grouping.hpp"
#include "sim/plan/plan.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// Buckets: groups of gradients that are exchanged together.
///
/// Gradients become ready in backward order, from the last layer to the first. They are merged as in Horovod's tensor
/// fusion (A. Sergeev, M. Del Balso, arXiv 1802.05799): see Fusion in plan.hpp. Left out: the copies into and out of
/// the fusion buffer.
///
/// Horovod's cycle runs freely. Here it restarts in every iteration on each rank, with the forward pass of the first
/// layer, once its dependencies have ended, or with the blocking copy before it; this keeps iterations alike, and
/// differs by less than one cycle. A bucket leaves at the first tick that is not before its last gradient, whenever
/// that is ready. Only the gradients in each bucket are planned, as if nothing slowed computation down: if stragglers,
/// jitter or exchanges do, Horovod would merge others.
///
/// With a partition (ByteScheduler, BytePS) a bucket of S bytes is cut into ⌈S/partition⌉ pieces, all full except the
/// last, and each is a bucket from then on: exchanged, placed and scheduled by itself.
namespace syncline {

struct Bucket {
    std::uint64_t bytes = 0;
    std::vector<std::uint32_t> layers;  ///< in backward order; the last one completes the bucket
    /// After the iteration's start, if computation is undisturbed: all gradients are ready (ready_times; 0 in a
    /// pipeline) ...
    double ready_s = 0;
    double release_s = 0;     ///< ... and the exchange may start (differs from ready_s only with ticks)
    std::uint32_t piece = 0;  ///< number of this piece within its bucket
    std::uint32_t stage = 0;
    Grouping replicas = {};          ///< the ranks of the stage that exchange it ...
    std::uint32_t contributors = 1;  ///< ... if their row is below this number
    std::uint64_t weight_bytes = 0;  ///< of the weights that belong to the gradients
    /// With Plan::compression: bytes of the second exchange, time between both, and time after the last.
    std::uint64_t second_bytes = 0;
    double between_s = 0, decode_s = 0;
    /// With Sharding, the ranks among which it is reduced and scattered: all, or some, and then shards are all-reduced.
    Grouping shards = {};

    std::uint64_t shard_bytes() const { return (bytes + shards.size - 1) / shards.size; }
};

/// One layer's gradients, on each rank that has them.
struct Gradient {
    std::uint32_t layer = 0;
    std::uint64_t bytes = 0;
    double ready_s = 0;
    std::uint32_t stage = 0;
    Grouping replicas = {};
    std::uint32_t contributors = 1;
    std::uint64_t weight_bytes = 0;
    Compressed compressed = {};  ///< only what follows the first exchange
    Grouping shards = {};
};

/// Returns true if both are exchanged among the same ranks.
template <class Some, class Other>
bool same_ranks(const Some& a, const Other& b) {
    return a.stage == b.stage && a.replicas == b.replicas && a.contributors == b.contributors;
}

/// Merges gradients that become ready in this order. Only gradients exchanged among the same ranks share a bucket.
std::vector<Bucket> make_buckets(const std::vector<Gradient>& gradients, const Plan& plan);

/// Returns by layer the time after the start of an iteration at which its gradients are complete, if nothing but the
/// computation takes time: m microbatches pass one after the other through the layers, from `start_s` on, and the
/// gradients are those of the last one. With Overlap::none all are complete after the backward pass.
std::vector<double> ready_times(const std::vector<LayerTime>& times, double start_s, std::int64_t micro_batches,
                                Overlap overlap);

/// Cuts each bucket into pieces of at most `partition_bytes`, in order; 0 leaves buckets whole.
std::vector<Bucket> cut(const std::vector<Bucket>& buckets, double partition_bytes);

/// Buckets that follow each other and are exchanged among the same ranks: [first, end).
struct BucketRun {
    std::size_t first = 0, end = 0;
};
std::vector<BucketRun> bucket_runs(const std::vector<Bucket>& buckets);

/// Returns the ranks of each group that exchanges `bucket`: of `grouping`, without rows that have no part.
std::vector<std::vector<std::uint32_t>> groups_of(const Bucket& bucket, const Grouping& grouping, const Plan& plan);

/// Part of a bucket on one server.
struct ServerPart {
    std::uint32_t server = 0;
    std::uint64_t bytes = 0;
};

/// Returns the parts of each bucket, by the plan's placement; tensors are placed in forward order, in which frameworks
/// create them.
std::vector<std::vector<ServerPart>> place(const std::vector<Bucket>& buckets, const Servers& servers);

}  // namespace syncline
