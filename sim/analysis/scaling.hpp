#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/lowering/lowered.hpp"

/// Scaling efficiency: throughput(N) / (N · throughput(1)).
///
/// The reference rank has the whole model, exchanges nothing, and has neither jitter nor straggling. If its memory
/// cannot hold weights, gradients and optimizer state, there is no efficiency; if only its activations are too large, a
/// note says so. Its batch is the one that stays constant when the number of ranks grows (Scaling). With T₁(b) its time
/// for b samples, T the iteration time on N ranks and R = N/replicas:
///
///     weak, b samples per replica:         T₁(b) / (R·T)      with data parallelism T₁(b)/T
///     strong, B samples of all together:   T₁(B) / (N·T)
///
/// With several kinds of devices, N · throughput(1) is the sum of the throughputs of one rank alone on each device: T₁
/// is the harmonic mean of the ranks' times.
///
/// Neither exceeds 1 on devices that are no faster with fewer samples or a part of a layer, as in the compute models of
/// sim/workload. One rank with b/R samples would be no valid reference for a split model: it reads all weights for
/// fewer samples, and the efficiency would approach R.
namespace syncline {

/// Returns the name used in results.
const char* name_of(Scaling scaling);

/// Returns the plan of the reference rank.
Plan one_rank(const Plan& plan);

/// A reference, and the number of ranks on devices of its kind.
struct Reference {
    Lowered one;
    std::int64_t ranks = 1;
};

/// Returns the reference on each kind of device with ranks.
std::vector<Reference> references_of(const Lowered& training);

/// Returns whether a device of the reference, see one_rank(), can hold weights, gradients and optimizer state.
bool holds_model(const Lowered& one);

/// Returns the efficiency; empty if either time is 0.
std::optional<double> scaling_efficiency(const Plan& plan, double iteration_s, double one_rank_s);

/// Returns notes on the efficiency: it does not exist, or the reference does not fit into its device's memory. `one`:
/// the reference, see one_rank().
std::vector<std::string> scaling_notes(const Lowered& training, const Lowered& one,
                                       const std::optional<double>& efficiency);

}  // namespace syncline
