#pragma once

#include <cstdint>
#include <vector>

/// Imbalance of experts. The tokens of an expert, in units of an equal share, are lognormal with mean 1 and this
/// coefficient of variation (lognormal_factor in pace.hpp), drawn once for each layer, and scaled such that together
/// they are all tokens. An expert has at most E/K shares, since a token goes to K different experts of E; what is above
/// goes to the others in proportion. The distribution is our choice, motivated by W. Fedus et al., "Switch
/// transformers", JMLR 2022. Left out: loads that change from iteration to iteration, or differ between the ranks that
/// send.
namespace syncline {

/// Returns the loads of `experts` experts in layer number `layer`, which add up to `experts`.
std::vector<double> expert_loads(std::int64_t experts, std::int64_t top_k, double imbalance, std::uint64_t seed,
                                 std::uint32_t layer);

}  // namespace syncline
