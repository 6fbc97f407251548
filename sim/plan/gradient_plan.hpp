#pragma once

#include <cstdint>

/// How ranks exchange gradients: when, in which buckets and order, and who adds them up.
namespace syncline {

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

}  // namespace syncline
