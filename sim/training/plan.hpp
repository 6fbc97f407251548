#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/selection.hpp"
#include "sim/training/placement.hpp"

/// How a model is trained on a cluster: how many ranks, what each computes, and how gradients are exchanged.
namespace syncline {

enum class Parallelism { data };
enum class ExchangeKind { allreduce, parameter_server, gossip };

/// When exchanges run. `none`: after the whole backward pass. `wait_free` (wait-free backpropagation): a bucket's
/// all-reduce or push starts when its gradients are ready, beside the rest of the backward pass. In both the next
/// iteration starts on a rank when its exchanges of this one are through.
///
/// With the same buckets wait_free is never slower. A fusion cycle makes more buckets of them when they become ready
/// one by one, each with a latency of its own, and may lose.
enum class Overlap { none, wait_free };

/// Which server holds a tensor. `round_robin`: tensor i on server i mod s; `greedy_bytes`: each on the server that
/// holds the fewest bytes so far; `sliced`: every tensor cut into s equal slices, one per server.
enum class Placement { round_robin, greedy_bytes, sliced };

/// `dedicated`: servers have nodes of their own, after the workers'; `colocated`: server i runs on the node of rank i.
enum class ServerLocation { dedicated, colocated };

/// How the next input batch reaches the device: not at all, beside the computation (prefetched), or before it.
enum class InputCopy { none, overlapped, blocking };

/// Gradients are merged into buckets of up to `threshold_bytes`, in the order in which they become ready. Without a
/// cycle a bucket is released when it is full; with one, at each multiple of `cycle_s` after the iteration's start,
/// whatever is ready.
struct Fusion {
    double threshold_bytes = 0;  ///< 0: no fusion, every layer is a bucket
    double cycle_s = 0;          ///< 0: no cycle
};

struct Servers {
    std::int64_t count = 1;
    Placement placement = Placement::round_robin;
    ServerLocation location = ServerLocation::dedicated;
};

struct Plan {
    std::int64_t ranks = 1;
    RankPlacement placement;
    std::int64_t batch_per_rank = 32;
    std::int64_t iterations = 4;  ///< the last of so many is measured (and one more replayed behind it)
    Parallelism parallelism = Parallelism::data;
    ExchangeKind exchange = ExchangeKind::allreduce;
    AlgorithmSpec algorithm;  ///< of the all-reduce or the gossip
    /// Of the all-reduce: chooses bucket by bucket, in place of `algorithm`.
    std::optional<Selection> selection = {};
    Overlap overlap = Overlap::wait_free;
    InputCopy input_copy = InputCopy::overlapped;
    Fusion fusion;
    Servers servers;
};

/// One exchange alone, without computation. `algorithm.name` may also be "parameter-server" (operation allreduce),
/// whose servers hold a slice each and have nodes of their own.
struct CollectivePlan {
    std::int64_t ranks = 2;
    RankPlacement placement;
    AlgorithmSpec algorithm;
    std::optional<Selection> selection = {};  ///< chooses by size, in place of `algorithm`, for its operation
    std::int64_t servers = 1;
    std::uint64_t bytes = 0;  ///< of the whole buffer, the same on every rank
    /// Sizes to go through, one after the other, in place of `bytes`; empty: no sweep.
    std::vector<std::uint64_t> sweep = {};

    bool served() const { return !selection && algorithm.name == served_allreduce; }
};

}  // namespace syncline
