#pragma once

#include <cstdint>
#include <vector>

#include "sim/lowering/lowered.hpp"

/// Offload: state of the training in the memory of the host, where the host updates it.
///
/// `optimizer`: the master weights and all values of the optimizer. After the exchange of gradients, and on the rank's
/// shard with Sharding, gradients are copied to the host, the step runs there, and the updated weights are copied back,
/// one after the other, as by Megatron-Core with --optimizer-cpu-offload (megatron/core/optimizer/optimizer_config.py,
/// hybrid_optimizer.py; --overlap-cpu-optimizer-d2h-h2d is off by default).
///
/// `gradients`: the gradients as well (J. Ren et al., "ZeRO-Offload", USENIX ATC 2021, sections 3.5 and 4.1). A
/// bucket's are copied as soon as they are reduced, or computed if there is no exchange, one after the other, while the
/// backward pass goes on. The step waits for all of them. With M weights in 2 bytes and Adam, a device keeps 4M and 2M
/// bytes in place of 16M (table 1).
///
/// A copy has the device's link to the host, or an equal share of the host's memory for each rank of the node, if that
/// is less. Left out: PCIe switches and sockets that several devices share; a step in parts, whose copies overlap with
/// those of others; a step that is delayed by one iteration (section 5.2 there); copies in a larger size than the
/// original's; host memory that is not pinned, or that runs out.
namespace syncline {

/// Returns whether the cluster gives the bandwidths that offload needs.
bool gives_host_bandwidths(const Cluster& cluster);

/// Returns the bytes per second at which a rank of this stage moves data in the host's memory, while all ranks of its
/// node do.
double host_memory_share(const Lowered& training, std::uint32_t stage);

/// Returns the bytes per second of a copy between a device of this stage and its host.
double host_copy_rate(const Lowered& training, std::uint32_t stage);

/// Gradients that a rank of a stage copies to its host together: those of a bucket, or those of a layer which are not
/// exchanged.
struct OffloadedGradients {
    std::uint32_t layer = 0;  ///< after whose backward pass they are complete
    bool exchanged = false;
    std::uint32_t bucket = 0;  ///< if they are
    double bytes = 0;          ///< of the rank's share
};

/// Returns what a rank of this stage copies with Offload::gradients, in order.
std::vector<OffloadedGradients> offloaded_gradients(const Lowered& training, std::uint32_t stage);

}  // namespace syncline
