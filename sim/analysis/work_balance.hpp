#pragma once

#include <cstdint>
#include <optional>

#include "sim/lowering/lowered.hpp"

/// Balance of the work that documents give to replicas and microbatches.
///
/// The work of a microbatch in an iteration is the time of its forward and backward passes, and of what is computed
/// again, through all layers. Its imbalance is the largest work of an iteration's microbatches, of all replicas, by
/// their mean (max · M / Σ: Z. Wang et al., "WLB-LLM", OSDI 2025); that of replicas likewise, with the sum of each
/// one's microbatches. Both are means over the measured iterations. 1: all are equal. Without a pipeline an iteration
/// takes at least the work of the replica with most; in a pipeline a long microbatch also holds up those behind it.
namespace syncline {

struct WorkBalance {
    double attention = 1;  ///< mean scores, as a fraction of those of whole sequences
    double padding = 0;    ///< fraction of all positions without a token
    double micro_batches = 1, replicas = 1;
    /// The microbatch with most work of the measured iterations, and its work by the mean of its iteration.
    std::uint32_t heaviest_replica = 0, heaviest_micro_batch = 0;
    double heaviest = 1;
};

/// Returns the balance over the iterations from `first` to `last`; nothing if the plan has no documents.
std::optional<WorkBalance> work_balance(const Lowered& training, std::uint32_t first, std::uint32_t last);

}  // namespace syncline
