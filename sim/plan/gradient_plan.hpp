#pragma once

#include <cstdint>

/// How ranks exchange gradients: when, in which buckets and order, and who adds them up.
namespace syncline {

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

}  // namespace syncline
