#pragma once

#include <cstdint>

/// How much longer than planned a process computes: slowdown · X_i in iteration i.
///
/// The X_i are independent, lognormal, of mean 1 and of the coefficient of variation `jitter` (call it c): X = exp(σz -
/// σ²/2), σ² = ln(1 + c²), z standard normal. One X is for all that the process computes in an iteration: what differs
/// between single kernels averages out over a model's hundreds, and what synchronous training waits for is whole
/// iterations that take longer. Ranks that wait for each other, without anything between, take E[max of N X's] = ∫ 1 -
/// F(x)^N dx of the planned time, F the lognormal's distribution function.
///
/// That all wait for the slowest of many: J. Dean, L. Barroso, "The tail at scale", CACM 56(2), 2013; of training: J.
/// Chen et al., "Revisiting distributed synchronous SGD", arXiv:1604.00981, 2016. The lognormal is chosen: above zero,
/// with a tail to the right, as measured iterations have.
///
/// Left out: noise that lasts for several iterations or that ranks of a node share, messages and servers that are late,
/// input copies, the ticks of a fusion cycle.
namespace syncline {

struct Pace {
    double slowdown = 1;
    double jitter = 0;
    std::uint64_t seed = 1;
    std::uint32_t rank = 0;

    /// Depends on nothing but the four above and the iteration.
    double factor(std::uint32_t iteration) const { return jitter == 0 ? slowdown : slowdown * drawn(iteration); }

private:
    double drawn(std::uint32_t iteration) const;
};

/// 64 bits that look random, of a seed and two counters (XXH3).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t first, std::uint64_t second);

}  // namespace syncline
