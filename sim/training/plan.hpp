#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/selection.hpp"
#include "sim/training/compression.hpp"
#include "sim/training/noise.hpp"
#include "sim/training/parallelism.hpp"
#include "sim/training/placement.hpp"
#include "sim/training/recomputation.hpp"
#include "sim/training/run_length.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/kept.hpp"

/// Training plan: number of ranks, the computation of each, and the exchange of gradients.
namespace syncline {

/// Optimizer state per parameter, in addition to weight and gradient: nothing, a momentum, or two moments (Adam).
/// `none`: weights are not updated, as in a measurement of forward and backward passes.
enum class Optimizer { none, sgd, momentum, adam };

/// Returns the number of values that the optimizer keeps for each weight.
constexpr double kept_values(Optimizer optimizer) {
    return optimizer == Optimizer::adam ? 2 : optimizer == Optimizer::momentum ? 1 : 0;
}

enum class ExchangeKind { allreduce, parameter_server, gossip };

/// Overlap of exchanges with computation. `none`: exchanges run after the whole backward pass. `wait_free` (wait-free
/// backpropagation): a bucket's all-reduce or push starts when its gradients are ready, concurrently with the rest of
/// the backward pass. In both the next iteration starts on a rank when its exchanges of this one are done.
/// `across_iterations`: as for wait_free, but the next forward pass of a layer waits only for the exchange of that
/// layer's bucket (P3: A. Jayarajan et al., "Priority-based parameter propagation for distributed DNN training", SysML
/// 2019; ByteScheduler: Y. Peng et al., SOSP 2019). An iteration then ends with its backward pass, and the remaining
/// exchanges count towards the next one.
///
/// With the same buckets wait_free is never slower than none if ranks send only gradients. Activations, transfers
/// between stages and weights share links with gradients that leave early, and may be delayed by them. A fusion cycle
/// makes more buckets of gradients that become ready one by one, each with a latency of its own, and may be slower.
enum class Overlap { none, wait_free, across_iterations };

/// Order in which ready buckets are exchanged if several wait for the same connections. `fifo`: in the order of their
/// release. `priority`: first the bucket with the layer that the next forward pass needs first, the lowest (P3,
/// ByteScheduler). A started exchange is not interrupted: `Plan::partition_bytes` makes exchanges short. All ranks
/// choose the same bucket: see TaskGraph::take_by_priority.
///
/// `random`: in an order that is drawn once (see Noise::seed), the same on all ranks and in all iterations: TensorFlow
/// fetches all variables of a parameter server concurrently, and they arrive in no particular order, so that the first
/// layers may have to wait for the variables of the last (S. Hashemi et al., "TicTac: accelerating distributed deep
/// learning with communication scheduling", MLSys 2019). Left out: different orders per worker and iteration.
enum class Schedule { fifo, priority, random };

/// Assignment of tensors to servers. `round_robin`: tensor i on server i mod s; `greedy_bytes`: each tensor on the
/// server with the fewest bytes so far; `sliced`: every tensor cut into s equal slices, one per server.
enum class Placement { round_robin, greedy_bytes, sliced };

/// Location of servers. `dedicated`: on nodes of their own, after the workers' nodes; the others are colocated, on
/// nodes that have ranks: see server_nodes().
enum class ServerLocation { dedicated, spread, packed };

/// Time at which a server sends a sum back. `together`: when all servers have all of their sums. `each`: as soon as it
/// is complete, like TensorFlow's distributed_replicated variables and BytePS (Y. Jiang et al., OSDI 2020).
enum class PullStart { together, each };

/// Copy of the next input batch to the device: none, during the computation (prefetched), or before it.
enum class InputCopy { none, overlapped, blocking };

/// Addition of the gradients of several micro-batches: see accumulation.hpp.
enum class Accumulation { separate, fused };

/// State of the training that is in the host's memory: see offload.hpp.
enum class Offload { none, optimizer, gradients };

/// Meaning of a bucket's limit. `before`: a gradient that would exceed it opens the next bucket (Horovod). `after`: the
/// gradient that reaches it is the bucket's last (PyTorch).
enum class Full { before, after };

/// Negotiation of the buckets, as by Horovod's coordinator (horovod/common/controller.cc): rank 0 waits for a message
/// of every rank that has a bucket, then tells all to proceed; request_bytes_per_layer from each rank, and the same
/// back.
///
/// `on_ready`: each bucket is negotiated when the device has computed its gradients. `ahead`: the host enqueues
/// gradients before the device computes them, so that all buckets are negotiated together at the start of the iteration
/// and filled up to the threshold; no tick delays them, and each leaves when its last gradient is computed. `none`: no
/// messages, as with PyTorch's DistributedDataParallel, whose ranks have the same buckets from the start.
///
/// Source of `ahead`: HorovodAllreduceOp::ComputeAsync of horovod/tensorflow/mpi_ops.cc enqueues a tensor with an event
/// on TensorFlow's stream (TFReadyEvent) and returns. The coordinator counts enqueued tensors, computed or not, and
/// fuses them; PerformOperation in horovod/common/operations.cc then waits for the events of all tensors of a buffer
/// (WAIT_FOR_DATA, which docs/timeline.rst explains by TensorFlow's scheduling ahead of the GPU), while the host goes
/// on enqueueing; RunLoopOnce does not sleep after an operation that took longer than a cycle. A. Sergeev says the same
/// in horovod/horovod, pull request 663. horovod/torch/mpi_ops_v2.cc records an event, too: how far PyTorch's host is
/// ahead depends on the program. Left out: the first negotiation, which finds only what the host has enqueued by then.
enum class Negotiation { none, on_ready, ahead };

/// Fusion of gradients into buckets of up to `threshold_bytes`, in the order in which they become ready. Without a
/// cycle a bucket is released when it is full; with one, whatever is ready is released at each multiple of `cycle_s`
/// after the iteration's start.
///
/// PyTorch's DistributedDataParallel is {25 MiB, first_bytes 1 MiB, full after}: compute_bucket_assignment_by_size in
/// torch/csrc/distributed/c10d/reducer.cpp, on gradients in the order in which they become ready, as it does from the
/// second iteration on. PyTorch's gradients are single tensors; here all gradients of a layer are one.
struct Fusion {
    double threshold_bytes = 0;  ///< 0: no fusion, every layer is a bucket
    double cycle_s = 0;          ///< 0: no cycle
    double first_bytes = 0;      ///< limit of the first bucket; 0: as for the others
    Full full = Full::before;
    Negotiation negotiation = Negotiation::none;

    /// Returns the period of the ticks at which buckets leave; 0: they leave when their gradients are ready.
    double tick_s() const { return negotiation == Negotiation::ahead ? 0 : cycle_s; }
};

/// Size of a negotiation message per layer. A Horovod request or response names a tensor and its shape: tens of bytes
/// and the name (horovod/common/wire/message.fbs). The value is our choice. Left out: Horovod's cache, which sends one
/// bit for a tensor that it has seen before.
inline constexpr std::uint64_t request_bytes_per_layer = 128;

/// Fidelity of a simulation. `message`: every message is simulated. `folded`: what repeats is simulated once and
/// extrapolated (sim/replay/README.md). `averaged`: also, ranks count as alike whose routes differ in latency alone;
/// their messages have the mean latency (sim/replay/symmetry.hpp). `automatic`: folded if there are many messages.
enum class Fidelity { message, folded, averaged, automatic };

/// Returns true if what repeats is folded however few messages there are.
inline bool always_folds(Fidelity fidelity) {
    return fidelity == Fidelity::folded || fidelity == Fidelity::averaged;
}

/// Batch size that stays constant when the number of ranks changes. `weak`: that of a replica (`batch_per_rank`);
/// `strong`: that of all ranks together (`batch`).
enum class Scaling { weak, strong };

struct Servers {
    std::int64_t count = 1;
    Placement placement = Placement::round_robin;
    ServerLocation location = ServerLocation::dedicated;
    PullStart pull = PullStart::together;
    /// Ranks on one node add up their gradients on the first of them, which alone pushes and pulls, and broadcasts the
    /// result (TensorFlow's parameter_server variables, BytePS).
    bool local_reduction = false;

    bool colocated() const { return location != ServerLocation::dedicated; }
};

struct Plan {
    std::int64_t ranks = 1;
    RankPlacement placement;
    std::int64_t batch_per_rank = 32;  ///< samples of one replica of the model: of a rank, if it has the whole model
    Scaling scaling = Scaling::weak;
    /// Number of iterations. The last one is measured, with jitter all except the first, and one more is replayed after
    /// it; 1: only that one, from a cold start.
    std::int64_t iterations = 4;
    RunLength run = {};  ///< of the whole training
    Noise noise;
    Parallelism parallelism;
    Recomputation recomputation = Recomputation::none;
    Saved saved;
    ComputeKind compute = ComputeKind::calibrated;
    std::vector<std::string> free_layers;  ///< names of layers whose computation takes no time
    Launches launches = Launches::eager;
    Elementwise elementwise = Elementwise::fused;
    /// Kernel of fused attention, by its name among the device's measured ones; empty: the device's own choice.
    std::string attention_kernel = {};
    Accumulation accumulation = Accumulation::separate;
    Optimizer optimizer = Optimizer::momentum;
    bool clipping = true;  ///< of gradients to their norm, before the optimizer's step
    Offload offload = Offload::none;
    Precision precision = {};  ///< replaces the model's
    ExchangeKind exchange = ExchangeKind::allreduce;
    /// For the all-reduce or the gossip; with Compression::Kind::top_k the allgather in place of the all-reduce.
    AlgorithmSpec algorithm;
    /// For the all-reduce: chooses an algorithm for each bucket, in place of `algorithm`.
    std::optional<Selection> selection = {};
    std::optional<std::int64_t> channels = {};  ///< of collectives; 0: automatic; nothing: the transport's
    Overlap overlap = Overlap::wait_free;
    InputCopy input_copy = InputCopy::overlapped;
    Fusion fusion;
    Compression compression = {};  ///< of an all-reduce; limits of buckets apply to compressed gradients
    double partition_bytes = 0;    ///< maximum size of the pieces in which buckets are exchanged; 0: whole
    Schedule schedule = Schedule::fifo;
    Servers servers;
    Fidelity fidelity = Fidelity::message;
    std::vector<std::string> inherited = {};  ///< keys whose values are those of a framework's preset: inherited.hpp

    /// Sets the seed of all random draws.
    void set_seed(std::uint64_t seed) { placement.seed = noise.seed = seed; }
    /// Returns whether results depend on the seed.
    bool draws() const {
        return noise.varies() || noise.stragglers.count > 0 || placement.order == RankPlacement::Order::random ||
               schedule == Schedule::random || parallelism.experts.imbalance > 0;
    }
    /// Returns whether gradients of inputs are exchanged while those of weights are computed.
    bool hides_input_gradients() const {
        if (parallelism.model_overlap == ModelOverlap::as_gradients) return overlap != Overlap::none;
        return parallelism.model_overlap == ModelOverlap::weight_gradients;
    }
    /// Returns what the framework keeps: an activation function of its own keeps its result.
    Saved kept() const {
        Saved all = saved;
        all.gate = saved.gate.value_or(elementwise == Elementwise::separate);
        return all;
    }
    std::int64_t stage_ranks() const { return ranks / parallelism.pipeline.stages; }
    std::int64_t replicas() const { return stage_ranks() / parallelism.layout.replica(); }
    std::int64_t global_batch() const { return batch_per_rank * replicas(); }
    /// Returns the number of servers that have nodes of their own.
    std::int64_t server_nodes() const {
        return exchange == ExchangeKind::parameter_server && !servers.colocated() ? servers.count : 0;
    }
};

/// A single exchange, without computation. `algorithm.name` may also be "parameter-server" (operation allreduce), whose
/// servers hold a slice each and have nodes of their own.
struct CollectivePlan {
    std::int64_t ranks = 2;
    RankPlacement placement;
    AlgorithmSpec algorithm;
    std::optional<Selection> selection = {};    ///< chooses by size, in place of `algorithm`, for its operation
    std::optional<std::int64_t> channels = {};  ///< see Plan
    std::int64_t servers = 1;
    std::uint64_t bytes = 0;  ///< size of the whole buffer, the same on every rank
    /// Sizes that are exchanged one after the other, in place of `bytes`; empty: no sweep.
    std::vector<std::uint64_t> sweep = {};
    Fidelity fidelity = Fidelity::message;
    /// For gossip whose peers change: only this round of a period, counted from 0; all_rounds: the mean over a period.
    std::int32_t round = all_rounds;

    static constexpr std::int32_t all_rounds = -1;
    bool served() const { return !selection && algorithm.name == served_allreduce; }
    std::int64_t server_nodes() const { return served() ? servers : 0; }
};

}  // namespace syncline
