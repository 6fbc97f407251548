#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/fidelity.hpp"
#include "sim/training/work.hpp"

/// Memory and time that a simulation takes, estimated from its Work before anything is built, so that one that cannot
/// end is refused instead of begun.
///
///     memory = 15 MB + 7 kB·processes + 370 B·tasks + 250 B·(listed + together)
///     time   = 20 us·processes + iterations·(0.8 us·tasks + 0.3 us·messages + 4 us·single), on SimGrid's network
///              models with 5 us·messages
///
/// The constants were measured with GCC 12 on a shared AMD EPYC: rings of 1024 and 2048 ranks, direct all-to-alls of
/// 512 to 2048, rabenseifner and binomial trees of 16384 and 65536, and trainings of ResNet-50 on 512 to 32768 ranks;
/// they give these within a factor of two. Another machine may be twice as fast or slow. Left out: the links of large
/// fabrics; the links of long routes (a direct exchange of 1024 ranks on a ring of nodes takes four times the memory);
/// recorded messages (440 B each, of at most 8 million); and the simulation of the one rank for the scaling efficiency.
namespace syncline {

struct Estimate {
    Work work;
    FidelityChoice fidelity;
    std::uint32_t iterations = 1;  ///< number that is simulated
    double messages = 0;           ///< simulated one by one, in all iterations
    double memory_bytes = 0;
    double time_s = 0;
};

Estimate estimate(const Lowered& training);
Estimate estimate(const Cluster& cluster, const CollectivePlan& plan);
/// `chosen` is the result of choose_exchanges (sweep.hpp).
Estimate estimate(const Cluster& cluster, const CollectivePlan& plan, const std::vector<Chosen>& chosen);

/// Returns "about 2.18 million messages in 5 iterations, 19 MB of memory, 700 ms".
std::string words_of(const Estimate& estimate);

/// Largest number of messages that are simulated without being asked twice: ten minutes, or hours if no step repeats.
inline constexpr double most_messages = 2e9;

/// Returns the reason for which a machine with this memory should not begin the simulation: "needs about 5.2 GB of
/// memory, more than 80 % of the 4 GB of this machine; it would take about 3.1 h". Empty if it may begin.
std::string excess(const Estimate& estimate, double machine_memory_bytes);

/// Returns ways to make such a simulation smaller, and the options that begin it anyway, as a hint.
std::string smaller(const Estimate& estimate, const std::string& options);

}  // namespace syncline
