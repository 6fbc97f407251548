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

/// Overlap of gradient exchange with computation. `none`: after the whole backward pass. `wait_free`: a bucket's
/// exchange starts when its gradients are ready; in both the next iteration starts on a rank when its exchanges are
/// done. `across_iterations`: also, the next forward pass of a layer waits only for its own bucket (P3: A. Jayarajan et
/// al., "Priority-based parameter propagation for distributed DNN training", SysML 2019; ByteScheduler: Y. Peng et al.,
/// SOSP 2019); an iteration ends with its backward pass, and the remaining exchanges count towards the next one. With
/// the same buckets wait_free is never slower than none if ranks send only gradients.
enum class Overlap { none, wait_free, across_iterations };

/// Order in which ready buckets are exchanged if several wait for the same connections, the same on all ranks
/// (TaskGraph::take_by_priority). `fifo`: by release. `priority`: the lowest layer first (P3, ByteScheduler); a started
/// exchange is not interrupted. `random`: drawn once (Noise::seed), the same in all iterations, as variables arrive
/// from TensorFlow's parameter servers (S. Hashemi et al., "TicTac: accelerating distributed deep learning with
/// communication scheduling", MLSys 2019). Left out: different orders per worker and iteration.
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
/// of every rank that has a bucket, then tells all to proceed; request_bytes_per_layer each way. `on_ready`: each
/// bucket when its gradients are computed. `ahead`: the host enqueues gradients before the device computes them, so
/// that all buckets are negotiated at the start of the iteration and filled up to the threshold, and no tick delays
/// them.
///
/// Source of `ahead`: HorovodAllreduceOp::ComputeAsync of horovod/tensorflow/mpi_ops.cc enqueues a tensor with an event
/// (TFReadyEvent); PerformOperation in horovod/common/operations.cc waits for the events of a buffer's tensors
/// (WAIT_FOR_DATA, docs/timeline.rst); A. Sergeev in horovod/horovod, pull request 663. horovod/torch/mpi_ops_v2.cc
/// records an event, too: how far PyTorch's host is ahead depends on the program. Left out: the first negotiation,
/// which finds only what is enqueued by then.
enum class Negotiation { none, on_ready, ahead };

/// Fusion of gradients into buckets of up to `threshold_bytes`, in the order in which they become ready; with a cycle,
/// whatever is ready is released at each multiple of `cycle_s` after the iteration's start. PyTorch's
/// DistributedDataParallel is {25 MiB, first_bytes 1 MiB, full after}: compute_bucket_assignment_by_size in
/// torch/csrc/distributed/c10d/reducer.cpp, from the second iteration on; here all gradients of a layer are one tensor.
struct Fusion {
    double threshold_bytes = 0;  ///< 0: no fusion, every layer is a bucket
    double cycle_s = 0;          ///< 0: no cycle
    double first_bytes = 0;      ///< limit of the first bucket; 0: as for the others
    Full full = Full::before;
    Negotiation negotiation = Negotiation::none;

    /// Returns the period of the ticks at which buckets leave; 0: they leave when their gradients are ready.
    double tick_s() const { return negotiation == Negotiation::ahead ? 0 : cycle_s; }
};

/// Bytes of a negotiation message per layer: our choice for a tensor's name and shape
/// (horovod/common/wire/message.fbs). Left out: Horovod's cache, which sends one bit for a known tensor.
inline constexpr std::uint64_t request_bytes_per_layer = 128;

/// Fidelity: every message (`message`); repeated steps simulated once (`folded`: sim/replay/folding.hpp), also with
/// ranks as alike whose routes differ in latency alone (`averaged`: sim/replay/symmetry.hpp); folded if there are many
/// messages.
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
