#pragma once

#include <cstdint>
#include <optional>

#include "sim/platform/cluster.hpp"
#include "sim/training/plan.hpp"
#include "sim/workload/model.hpp"

/// What a device has to hold.
///
/// weights: parameters · element size, 1/rows of them where they are split, 1/replicas with Sharding::parameters (and
/// the two largest layers whole, as they are gathered: the one that computes and the next). gradients: as many,
/// 1/replicas with Sharding::gradients or parameters. optimizer: 4 bytes for each value that the optimiser keeps
/// (momentum 1, adam 2), and where an element is smaller than 4 bytes 4 more for the weights in full precision (P.
/// Micikevicius et al., "Mixed precision training", ICLR 2018; S. Rajbhandari et al., "ZeRO"); 1/replicas with any
/// Sharding. activations: what a layer keeps for its backward pass, for every micro-batch that is on the stage at once
/// (see peak_passes).
///
/// Left out: work space of kernels, buffers of exchanges, the framework, fragmentation.
namespace syncline {

struct Memory {
    double weights_bytes = 0, gradients_bytes = 0, optimizer_bytes = 0, activations_bytes = 0;
    /// What the device has; nothing if its file does not say.
    std::optional<double> device_bytes;

    double total_bytes() const { return weights_bytes + gradients_bytes + optimizer_bytes + activations_bytes; }
    bool fits() const { return !device_bytes || total_bytes() <= *device_bytes; }
};

/// Of the rank that needs most.
Memory memory_of(const Cluster& cluster, const Model& model, const Plan& plan);

}  // namespace syncline
