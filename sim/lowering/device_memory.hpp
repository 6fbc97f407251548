#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/lowering/lowered.hpp"
#include "sim/lowering/pipeline.hpp"

/// Memory that a device needs, in bytes. Elements have the model's size, or those of Plan::precision.
///
/// - weights: parameters · element size, 1/rows of them if split, 1/replicas with Sharding::parameters (plus the two
///   largest units whole, as gathered: see sim/iteration/operations.hpp).
/// - gradients: the same number, 1/replicas with Sharding::gradients or parameters, unless gradients of several
///   microbatches are added up first (GradientSync): then those of a virtual stage are whole from its first backward
///   pass to its last one if each layer has a bucket and overlaps, else from the first pass to the last of all. Once
///   more if Plan::compression keeps what is not exchanged, and once more for each exchange that Plan::exchange_delay
///   allows to be in flight when the next one begins.
/// - optimizer: the master copy of the weights, by default 4 bytes if a weight has fewer (P. Micikevicius et al.,
///   "Mixed precision training", ICLR 2018), and as much, or a weight's size without one, for each value that the
///   optimizer keeps; 1/replicas with any Sharding. With Adam, Ψ parameters in 2 bytes need (2 + 2 + 12)Ψ, and (2 + 2 +
///   12)Ψ/N with Sharding::parameters among N (Parallelism::shard_ranks), without the gathered units (S. Rajbhandari et
///   al., "ZeRO", SC 2020, section 5).
/// - activations: kept_bytes of every microbatch that the stage holds at the same time (see slots). With
///   Recomputation::full only the inputs of each span, and during a backward pass what its largest span keeps;
///   with selective everything but the scores, and those of the layer with the most; with operators likewise
///   (alternate.hpp). With torch.autocast also a copy of the weights in 2 bytes.
///
/// A rank holds weights, gradients and optimizer state of its own experts, sharded among the ranks that have the same
/// ones; activations are those of the rank with the most tokens. Without Saved::gradients and with one microbatch,
/// gradients take the place of activations, and count as far as they are more. Gradients that are reduced as soon as
/// they are computed are whole for the largest layer, or unit, beside the shards of previous microbatches.
/// Precision::accumulation adds a buffer of as many elements as gradients, sharded with them. Logits of a language
/// model: see Saved.
///
/// With Offload the master copies and values of the optimizer are in the host's memory, which also has a copy of
/// weights that have no master copy, and room for the gradients and weights that are copied: 16 bytes for each of Ψ
/// parameters in 2 bytes with Adam. With Offload::gradients only the gradients of the largest layer are on the device;
/// without sharding, (2 + 2)Ψ or 2Ψ (J. Ren et al., "ZeRO-Offload", USENIX ATC 2021, table 1).
///
/// Left out: gradients that wait for other copies to the host; work space of kernels, buffers of exchanges and of
/// transfers between stages, the input batch, the framework, fragmentation; a copy of tied weights (Dense::tied) on
/// another stage, or gathered for the layer that borrows them. A rank that leaves the update to servers is still
/// counted with the optimizer's state.
namespace syncline {

struct Memory {
    double weights_bytes = 0, gradients_bytes = 0, optimizer_bytes = 0, activations_bytes = 0;  ///< whole numbers
    /// With Offload, bytes in the host's memory for this rank.
    std::optional<double> host_bytes = {};
    /// Memory of the device, without what the driver reserves; nothing if its file does not give it.
    std::optional<double> device_bytes;
    std::string device = {};  ///< name of that device, where there are several kinds of ranks

    double total_bytes() const { return weights_bytes + gradients_bytes + optimizer_bytes + activations_bytes; }
    bool fits() const { return !device_bytes || total_bytes() <= *device_bytes; }
    /// Fraction of the device's memory: above 1 the plan does not fit. Nothing if the file does not give it.
    std::optional<double> fraction() const {
        return device_bytes ? std::optional(total_bytes() / *device_bytes) : std::nullopt;
    }
};

/// Returns the memory of the rank with the least room: the first of the stage that needs the most, because first rows
/// have a part of every layer; of several kinds of ranks that whose device has the least left.
Memory memory_of(const Lowered& training);
/// Returns the memory of the first rank of a stage, of the kind of ranks in it with the least room.
Memory memory_of(const Lowered& training, std::uint32_t stage);

/// Activations that a device holds while a pass runs, and after it.
struct HeldActivations {
    Slot slot;
    double during_bytes = 0, after_bytes = 0;
};

/// Returns them for the passes of a stage, in their order. The largest is Memory::activations_bytes, without the copies
/// of torch.autocast, which stay all the time.
std::vector<HeldActivations> held_activations(const Lowered& training, std::uint32_t stage);

/// Returns the bytes of activations that each layer keeps for one microbatch until its backward pass.
std::vector<double> kept_by_layer(const Lowered& training);

}  // namespace syncline
