#pragma once

#include <cstdint>

/// Noise: factors by which computation and messages take longer than planned.
///
/// A process computes in iteration i more slowly by slowdown · X_i · Y_i. The X_i are its own, the Y_i those of its
/// node. All are independent, lognormal, with mean 1 and coefficient of variation c, `jitter` or `node_jitter`: X =
/// exp(σz - σ²/2), σ² = ln(1 + c²), z standard normal. One factor applies to all that the process computes in an
/// iteration. N ranks that wait for each other take E[max of N X's] = ∫ 1 - F(x)^N dx of the planned time, F being the
/// lognormal's distribution function (sim/analysis/slowest.hpp). The latency of each message is multiplied by an
/// independent factor of the same kind; bytes take their planned time (D. De Sensi et al., "Noise in the clouds:
/// influence of network performance variability on application scalability", POMACS 6(3), 2022, arXiv:2210.15315).
///
/// Sources: F. Petrini, D. Kerbyson, S. Pakin, "The case of the missing supercomputer performance", SC 2003; T.
/// Hoefler, T. Schneider, A. Lumsdaine, "Characterizing the influence of system noise on large-scale applications by
/// simulation", SC 2010; J. Dean, L. Barroso, "The tail at scale", CACM 56(2), 2013; in training: J. Chen et al.,
/// "Revisiting distributed synchronous SGD", arXiv:1604.00981, 2016. The lognormal is our choice: positive, with a tail
/// to the right.
///
/// Left out: noise that lasts for several iterations (but see stragglers), traces of single interruptions, as Hoefler
/// et al. inject them, late servers, input copies, ticks of a fusion cycle, reductions and copies of exchanges.
namespace syncline {

/// Returns 64 pseudo-random bits derived from a seed and two counters (XXH3).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t first, std::uint64_t second);

/// Returns a lognormal factor of mean 1 and this coefficient of variation, derived from 64 random bits.
double lognormal_factor(double variation, std::uint64_t bits);
/// Returns σ, the standard deviation of such a factor's logarithm.
double lognormal_sigma(double variation);

/// The pace of a process's computation.
struct Pace {
    double slowdown = 1;
    double jitter = 0;
    std::uint64_t seed = 1;
    std::uint32_t rank = 0;
    double node_jitter = 0;
    std::uint32_t node = 0;

    bool varies() const { return jitter > 0 || node_jitter > 0; }
    /// Returns the factor, which depends only on the values above and the iteration.
    double factor(std::uint32_t iteration) const { return varies() ? slowdown * drawn(iteration) : slowdown; }

private:
    double drawn(std::uint32_t iteration) const;
};

/// The latencies of messages.
struct Lateness {
    double jitter = 0;
    std::uint64_t seed = 1;

    bool varies() const { return jitter > 0; }
    /// Returns the factor of the `number`-th message from one process to another on a channel.
    double factor(std::uint32_t channel, std::uint32_t from, std::uint32_t to, std::uint64_t number) const {
        return varies() ? drawn(channel, from, to, number) : 1;
    }

private:
    double drawn(std::uint32_t channel, std::uint32_t from, std::uint32_t to, std::uint64_t number) const;
};

}  // namespace syncline
