#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/training/lowered.hpp"

/// How well N ranks are used beside one: throughput(N) / (N · throughput(1)).
///
/// The one rank has the whole model, computes on its batch in one piece, exchanges nothing, and has neither jitter nor
/// is it a straggler; whether its device's memory holds all that is not asked, but said. Its batch is the one that the
/// scenario keeps when its ranks become more (see Scaling). With T₁(b) its time for b samples, T that of an iteration
/// on N ranks, R = N/replicas the ranks of a replica:
///
///     weak, b samples of each replica:     T₁(b) / (R·T)      with data parallelism T₁(b)/T
///     strong, B samples of all together:   T₁(B) / (N·T)
///
/// Neither is above 1 on devices that are no faster with fewer samples or a part of a layer: N ranks compute at least
/// what the one does, and with compute models of sim/workload no kernel of 1/n of a layer takes less than 1/n of the
/// layer's time. One rank with a replica's share b/R of the samples is no reference for a split model: where kernels
/// wait for weights from memory it reads all of them for fewer samples, and the efficiency would approach R.
namespace syncline {

/// As results call it.
const char* name_of(Scaling scaling);

/// The reference of `plan`.
Plan one_rank(const Plan& plan);

/// Nothing where either time is 0.
std::optional<double> scaling_efficiency(const Plan& plan, double iteration_s, double one_rank_s);

/// Notes on a result about its efficiency: it does not exist, or the reference would not fit into a device's memory.
/// `one`: the reference, as one_rank() has it.
std::vector<std::string> scaling_notes(const Lowered& training, const Lowered& one,
                                       const std::optional<double>& efficiency);

}  // namespace syncline
