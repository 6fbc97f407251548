#pragma once

#include <cstdint>
#include <vector>

/// Shares of a batch in whole samples.
///
/// Ranks that wait for each other and have w_i of the work W each take max w_i/v_i, v_i being their speeds: equal
/// shares of N ranks W/(N·min v), shares by speed W/Σ v. Whole samples are divided by the largest remainder method
/// (Hamilton's): each rank gets its quota W·v_i/Σ v rounded down, and the samples that are left go to the largest
/// remainders, the first ranks of equal ones. As every rank takes part in the exchange, it has at least one sample,
/// which those with the most give up. Gradients are then means weighted by samples, so that the update is that of equal
/// shares; the weights take no time.
namespace syncline {

/// Returns the samples of each rank. `samples` are at least as many as ranks, speeds above 0.
std::vector<std::int64_t> shares_by_speed(const std::vector<double>& speeds, std::int64_t samples);

}  // namespace syncline
