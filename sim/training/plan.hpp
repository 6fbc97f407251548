#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/selection.hpp"
#include "sim/training/noise.hpp"
#include "sim/training/parallelism.hpp"
#include "sim/training/placement.hpp"
#include "sim/workload/compute_model.hpp"

/// How a model is trained on a cluster: how many ranks, what each computes, and how gradients are exchanged.
namespace syncline {

/// What the optimiser keeps for each parameter beside weight and gradient: nothing, a momentum, or two moments (Adam).
enum class Optimizer { sgd, momentum, adam };

enum class ExchangeKind { allreduce, parameter_server, gossip };

/// When exchanges run. `none`: after the whole backward pass. `wait_free` (wait-free backpropagation): a bucket's
/// all-reduce or push starts when its gradients are ready, beside the rest of the backward pass. In both the next
/// iteration starts on a rank when its exchanges of this one are through. `across_iterations`: as wait_free, and the
/// next forward pass of a layer waits for the exchange of that layer's bucket alone (P3: A. Jayarajan et al.,
/// "Priority-based parameter propagation for distributed DNN training", SysML 2019; ByteScheduler: Y. Peng et al., SOSP
/// 2019). An iteration then ends with its backward pass, and what is still exchanged counts into the next one.
///
/// With the same buckets wait_free is never slower than none where ranks send nothing but gradients. Activations,
/// transfers between stages and weights share links with gradients that leave early, and may be late for it. A fusion
/// cycle makes more buckets of them when they become ready one by one, each with a latency of its own, and may lose.
enum class Overlap { none, wait_free, across_iterations };

/// Which ready bucket is exchanged next, where several wait for the same connections. `fifo`: in the order in which
/// they are released. `priority`: the one with the layer that the next forward pass needs first, the lowest (P3,
/// ByteScheduler). An exchange that has begun is not interrupted: `Plan::partition_bytes` makes them short. All ranks
/// take the same one: see TaskGraph::take_by_priority.
///
/// `random`: in an order that is drawn once (see Noise::seed), the same on all ranks and in all iterations: TensorFlow
/// fetches all variables of a parameter server at once, and they arrive in no particular order, so that the first
/// layers may have to wait for the last ones' (S. Hashemi et al., "TicTac: accelerating distributed deep learning with
/// communication scheduling", MLSys 2019). Left out: that each worker and each iteration has another order.
enum class Schedule { fifo, priority, random };

/// Which server holds a tensor. `round_robin`: tensor i on server i mod s; `greedy_bytes`: each on the server that
/// holds the fewest bytes so far; `sliced`: every tensor cut into s equal slices, one per server.
enum class Placement { round_robin, greedy_bytes, sliced };

/// `dedicated`: servers have nodes of their own, after the workers'; the others are colocated, on nodes that have
/// ranks: see server_nodes().
enum class ServerLocation { dedicated, spread, packed };

/// When a server sends a sum back. `together`: when all servers have all of theirs. `each`: as soon as it is there, as
/// TensorFlow's distributed_replicated variables and BytePS do (Y. Jiang et al., OSDI 2020).
enum class PullStart { together, each };

/// How the next input batch reaches the device: not at all, beside the computation (prefetched), or before it.
enum class InputCopy { none, overlapped, blocking };

/// What a bucket's limit means. `before`: a gradient that would exceed it opens the next bucket (Horovod). `after`: the
/// gradient that reaches it is the bucket's last (PyTorch).
enum class Full { before, after };

/// Gradients are merged into buckets of up to `threshold_bytes`, in the order in which they become ready. Without a
/// cycle a bucket is released when it is full; with one, at each multiple of `cycle_s` after the iteration's start,
/// whatever is ready.
///
/// PyTorch's DistributedDataParallel is {25 MiB, first_bytes 1 MiB, full after}: compute_bucket_assignment_by_size in
/// torch/csrc/distributed/c10d/reducer.cpp, on gradients in the order in which they become ready, as it does from the
/// second iteration on. Its gradients are single tensors; here a layer's are one.
struct Fusion {
    double threshold_bytes = 0;  ///< 0: no fusion, every layer is a bucket
    double cycle_s = 0;          ///< 0: no cycle
    double first_bytes = 0;      ///< the limit of the first bucket; 0: as the others'
    Full full = Full::before;
    /// Before a bucket, rank 0 hears from all ranks that they have it and tells all to go on, as Horovod's coordinator
    /// does (horovod/common/controller.cc): request_bytes_per_layer of each rank, and as many back.
    bool negotiation = false;
};

/// A Horovod request or response names a tensor and its shape: tens of bytes and the name (horovod/common/wire/
/// message.fbs). Chosen. Left out: its cache, which sends one bit for a tensor that it has seen before.
inline constexpr std::uint64_t request_bytes_per_layer = 128;

/// How much of a plan is simulated message by message. `message`: all of it. `folded`: what repeats is simulated once
/// and stands for the rest (sim/replay/folding.hpp). `automatic`: folded where it has many messages.
enum class Fidelity { message, folded, automatic };

/// Which number of samples a scenario keeps when its ranks become more. `weak`: that of a replica (`batch_per_rank`);
/// `strong`: that of all ranks together (`batch`).
enum class Scaling { weak, strong };

struct Servers {
    std::int64_t count = 1;
    Placement placement = Placement::round_robin;
    ServerLocation location = ServerLocation::dedicated;
    PullStart pull = PullStart::together;
    /// Ranks on one node add up their gradients on the first of them, which alone pushes and pulls, and passes the
    /// result on (TensorFlow's parameter_server variables, BytePS).
    bool local_reduction = false;

    bool colocated() const { return location != ServerLocation::dedicated; }
};

struct Plan {
    std::int64_t ranks = 1;
    RankPlacement placement;
    std::int64_t batch_per_rank = 32;  ///< samples of one replica of the model: of a rank, where it has all of it
    Scaling scaling = Scaling::weak;
    /// The last of so many is measured, with jitter all but the first, and one more replayed behind; 1: only that one,
    /// from a standing start.
    std::int64_t iterations = 4;
    Noise noise;
    Parallelism parallelism;
    ComputeKind compute = ComputeKind::calibrated;
    Optimizer optimizer = Optimizer::momentum;
    ExchangeKind exchange = ExchangeKind::allreduce;
    AlgorithmSpec algorithm;  ///< of the all-reduce or the gossip
    /// Of the all-reduce: chooses bucket by bucket, in place of `algorithm`.
    std::optional<Selection> selection = {};
    Overlap overlap = Overlap::wait_free;
    InputCopy input_copy = InputCopy::overlapped;
    Fusion fusion;
    double partition_bytes = 0;  ///< buckets are exchanged in pieces of at most so many; 0: whole
    Schedule schedule = Schedule::fifo;
    Servers servers;
    Fidelity fidelity = Fidelity::message;

    /// Of all that is drawn.
    void set_seed(std::uint64_t seed) { placement.seed = noise.seed = seed; }
    std::int64_t stage_ranks() const { return ranks / parallelism.pipeline.stages; }
    std::int64_t replicas() const { return stage_ranks() / parallelism.layout.replica(); }
    std::int64_t global_batch() const { return batch_per_rank * replicas(); }
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
    Fidelity fidelity = Fidelity::message;
    /// Of gossip whose peers change: this round of a period alone, counted from 0; all_rounds: the mean over a period.
    std::int32_t round = all_rounds;

    static constexpr std::int32_t all_rounds = -1;
    bool served() const { return !selection && algorithm.name == served_allreduce; }
};

}  // namespace syncline
