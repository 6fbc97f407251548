#pragma once

#include <cstdint>
#include <vector>

/// Expected time of the slowest of several ranks whose computation varies (pace.hpp): the least mean time of a training
/// in which all ranks wait for each other in every iteration.
///
/// Rank i of node m takes t_i X_i Y_m, where t_i is its planned time, and the X_i and Y_m are independent lognormal
/// factors of mean 1. With F and G, the distribution functions of X and Y,
///
///     P(max <= x) = Π_m ∫ Π_{i in m} F(x / (t_i y)) dG(y),     E[max] = ∫_0^∞ 1 - P(max <= x) dx,
///
/// for N equal ranks on nodes without noise E[max] = t ∫ 1 - F(x)^N dx. Both integrals are numerical, with relative
/// errors below 1e-9. For large N, E[max] / t approaches exp(σ b_N - σ²/2) (1 + O(σ / b_N)), where b_N = sqrt(2 ln N) -
/// (ln ln N + ln 4π) / (2 sqrt(2 ln N)) (P. Embrechts, C. Klüppelberg, T. Mikosch, "Modelling Extremal Events",
/// Springer 1997, table 3.4.4; H. David, H. Nagaraja, "Order Statistics", Wiley 2003, chapter 10). With gossip, or
/// iterations that overlap, the mean may be lower.
namespace syncline {

struct RankTime {
    double seconds = 0;  ///< planned
    std::uint32_t node = 0;
};

/// Returns E[max] for the coefficients of variation of a rank's and of a node's factor. There is at least one rank.
double expected_slowest_s(const std::vector<RankTime>& ranks, double jitter, double node_jitter);

}  // namespace syncline
