#pragma once

#include <cstdint>
#include <vector>

#include "sim/training/grouping.hpp"
#include "sim/training/plan.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// Buckets: which gradients travel together, and when.
///
/// Gradients become ready in backward order, from the last layer to the first. Merged as in Horovod's tensor fusion
/// (A. Sergeev, M. Del Balso, arXiv 1802.05799): see Fusion in plan.hpp. Left out: the copies into and out of the
/// fusion buffer.
///
/// Horovod's cycle runs freely. Here it starts anew on a rank with its first layer's forward pass, once that has what
/// it waits for, or with the blocking copy before it, in every iteration; this keeps iterations alike, and differs by
/// less than one cycle. A bucket leaves at the first tick that is not before its last gradient, whenever that comes.
/// Only which gradients it holds is planned, as if nothing slowed computation down: where stragglers, jitter or
/// exchanges do, Horovod would merge others.
///
/// With a partition (ByteScheduler, BytePS) a bucket of S bytes is cut into ⌈S/partition⌉ pieces, all full but the
/// last, and each is a bucket from then on: exchanged, placed and scheduled by itself.
namespace syncline {

struct Bucket {
    std::uint64_t bytes = 0;
    std::vector<std::uint32_t> layers;  ///< in backward order; the last one completes the bucket
    double ready_s = 0;  ///< after the iteration's start, when computation is undisturbed: all gradients are there ...
    double release_s = 0;    ///< ... and the exchange may start (another time than ready_s only with a cycle)
    std::uint32_t part = 0;  ///< which piece of its bucket this is
    std::uint32_t stage = 0;
    Grouping replicas = {};          ///< of the stage's ranks: those that exchange it ...
    std::uint32_t contributors = 1;  ///< ... where their row is below this
};

/// One layer's gradients, on each rank that has them.
struct Gradient {
    std::uint32_t layer = 0;
    std::uint64_t bytes = 0;
    double ready_s = 0;
    std::uint32_t stage = 0;
    Grouping replicas = {};
    std::uint32_t contributors = 1;
};

/// Whether two of these are exchanged among the same ranks.
template <class Some, class Other>
bool same_ranks(const Some& a, const Other& b) {
    return a.stage == b.stage && a.replicas == b.replicas && a.contributors == b.contributors;
}

/// Merges gradients that are there in this order. Only those that are exchanged among the same ranks travel together.
std::vector<Bucket> make_buckets(const std::vector<Gradient>& gradients, const Plan& plan);

/// The same of a model that every rank has, where the forward pass starts at `start_s`: buckets, or their pieces, in
/// the order in which they are released. Layers without parameters are in none.
std::vector<Bucket> make_buckets(const Model& model, const std::vector<LayerTime>& times, double start_s,
                                 const Plan& plan);

/// Each bucket in pieces of at most so many bytes, in order; whole with 0.
std::vector<Bucket> cut(const std::vector<Bucket>& buckets, double partition_bytes);

/// Buckets that follow each other and are exchanged among the same ranks: [first, end).
struct BucketRun {
    std::size_t first = 0, end = 0;
};
std::vector<BucketRun> runs_of(const std::vector<Bucket>& buckets);

/// The ranks of each group that exchanges `bucket`.
std::vector<std::vector<std::uint32_t>> groups_of(const Bucket& bucket, const Plan& plan);

/// Part of a bucket on one server.
struct ServerPart {
    std::uint32_t server = 0;
    std::uint64_t bytes = 0;
};

/// Shards of each bucket, by the plan's placement; tensors are placed in forward order, as frameworks create them.
std::vector<std::vector<ServerPart>> place(const std::vector<Bucket>& buckets, const Servers& servers);

}  // namespace syncline
