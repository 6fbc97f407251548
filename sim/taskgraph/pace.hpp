#pragma once

#include <cstdint>

/// Factor by which a process computes more slowly than planned: slowdown · X_i in iteration i.
///
/// The X_i are independent, lognormal, with mean 1 and coefficient of variation `jitter` (call it c): X = exp(σz -
/// σ²/2), σ² = ln(1 + c²), z standard normal. One X applies to all that the process computes in an iteration:
/// differences between single kernels average out over a model's hundreds, and synchronous training waits for whole
/// iterations that take longer. Ranks that wait for each other, with nothing in between, take E[max of N X's] = ∫ 1 -
/// F(x)^N dx of the planned time, where F is the lognormal's distribution function.
///
/// On waiting for the slowest of many: J. Dean, L. Barroso, "The tail at scale", CACM 56(2), 2013; in training: J. Chen
/// et al., "Revisiting distributed synchronous SGD", arXiv:1604.00981, 2016. The lognormal is our choice: it is
/// positive, with a tail to the right, like measured iterations.
///
/// Left out: noise that lasts for several iterations or that ranks of a node share, late messages and servers, input
/// copies, the ticks of a fusion cycle.
namespace syncline {

struct Pace {
    double slowdown = 1;
    double jitter = 0;
    std::uint64_t seed = 1;
    std::uint32_t rank = 0;

    /// Returns the factor, which depends only on the four values above and the iteration.
    double factor(std::uint32_t iteration) const { return jitter == 0 ? slowdown : slowdown * drawn(iteration); }

private:
    double drawn(std::uint32_t iteration) const;
};

/// Returns 64 pseudo-random bits derived from a seed and two counters (XXH3).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t first, std::uint64_t second);

}  // namespace syncline
