#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/fidelity_choice.hpp"
#include "sim/iteration/work.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/trace_plan.hpp"

/// Memory and time that a simulation takes, estimated from its Work before anything is built.
///
///     memory = 45 MB + 7 kB·processes + (110 + 35·recorded) B·tasks + 250 B·(listed + together), and another
///              100 B·tasks if iterations may be folded
///     time   = 40 ms + 2.5 us·links + 20 us·processes + iterations·(0.6 us·tasks + 0.3 us·messages
///              + 0.9 us·hops·single), on SimGrid's network models with 5 us·messages
///
/// `links`: of a fabric that is no star; `hops`: of a route between ranks spread evenly; `recorded`: iterations whose
/// times are kept, the measured ones and up to twice as many before. Per task: 48 B, 8 B per dependency (12 B more
/// while the graph is built), 8 B in the replay, 16 B per recorded time, 72 B to compare iterations.
///
/// Constants measured with GCC 12 on a shared AMD EPYC: trainings of Llama-3-70B on 128 and 512 ranks (1.4 to 32
/// million tasks, 1 to 5 iterations) and Llama-3-405B on 16384 (35 million tasks), direct all-to-alls of 16 to 512
/// ranks, rabenseifner of 64 to 8192: within a factor of two, the trainings' memory within a sixth. Links and hops:
/// exchanges of 64 to 100,000 ranks on stars, tori, a fat tree and a dragonfly take 0.4 to 2.3 of the estimate. Another
/// machine may be twice as fast or slow. Left out: memory of a large fabric's links and of long routes (a direct
/// exchange of 1024 ranks on a ring of nodes takes four times the memory); recorded messages (440 B each, at most 8
/// million); the one rank for the scaling efficiency.
///
/// Of a trace, 500 B are added for each node, which has been read already.
///
/// If a plan is folded, tasks and messages are those of the ranks that stand for others (symmetry.hpp), in a training
/// those of each of the two replays with fewer microbatches that may stand for all (micro_batches.hpp). These are known
/// only afterwards: if they do not, it takes longer.
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

Estimate estimate(const Cluster& cluster, const TracePlan& plan);

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
