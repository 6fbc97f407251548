#pragma once

#include <cstdint>
#include <optional>

#include "sim/training/lowered.hpp"

/// What a device has to hold, in bytes.
///
/// weights: parameters · element size, 1/rows of them where they are split, 1/replicas with Sharding::parameters (and
/// the two largest layers whole, as they are gathered: the one that computes and the next). gradients: as many,
/// 1/replicas with Sharding::gradients or parameters, unless those of several micro-batches are added up first.
/// optimizer: 4 bytes for each value that the optimiser keeps (momentum 1, adam 2), and where an element is smaller
/// than 4 bytes 4 more for the weights in full precision (P. Micikevicius et al., "Mixed precision training", ICLR
/// 2018); 1/replicas with any Sharding. That is (2 + 2 + 12)Ψ of Ψ parameters in 2 bytes with Adam, and (2 + 2 + 12)Ψ/N
/// with Sharding::parameters among N, without what is gathered (S. Rajbhandari et al., "ZeRO", SC 2020, section 5).
/// activations: what a layer keeps for its backward pass (see kept_bytes), for every micro-batch that is on the stage
/// at once, as its passes follow each other (see slots).
///
/// Left out: work space of kernels, buffers of exchanges and of what goes from stage to stage, the input batch that is
/// copied beside the computation, the framework, fragmentation; a copy of tied weights (Dense::tied) on another
/// stage, or gathered for the layer that borrows them.
/// A rank that leaves the update to servers is still counted with the optimiser's state, and a layer whose weights are
/// sharded with its shard of the gradients alone, also while they are computed.
namespace syncline {

struct Memory {
    double weights_bytes = 0, gradients_bytes = 0, optimizer_bytes = 0, activations_bytes = 0;  ///< whole numbers
    /// What the device has; nothing if its file does not say.
    std::optional<double> device_bytes;

    double total_bytes() const { return weights_bytes + gradients_bytes + optimizer_bytes + activations_bytes; }
    bool fits() const { return !device_bytes || total_bytes() <= *device_bytes; }
    /// Of what the device has: above 1 it does not fit. Nothing if its file does not say.
    std::optional<double> fraction() const {
        return device_bytes ? std::optional(total_bytes() / *device_bytes) : std::nullopt;
    }
};

/// Of the rank that needs most: the first of the stage that needs most, since first rows have a part of every layer.
Memory memory_of(const Lowered& training);

}  // namespace syncline
