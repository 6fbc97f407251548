#pragma once

#include <cstdint>
#include <string>

#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Choice between simulating every message and folding what repeats (sim/replay/README.md).
namespace syncline {

/// `Fidelity::automatic` folds above this number of messages in one iteration, or in all sizes of a sweep; simulating
/// that many takes some seconds.
inline constexpr std::uint64_t many_messages = 1'000'000;

struct FidelityChoice {
    Fidelity asked = Fidelity::message;  ///< requested by the plan
    bool folds = false;
    std::string why;  ///< reason as a clause; empty if the plan's request is followed
};

/// Chooses the fidelity for this number of messages among processes on the first `nodes` nodes. Nothing is folded on a
/// native platform, whose links may change with time so that steps may not repeat, with adaptive routing, and if every
/// message is `recorded`.
FidelityChoice choose_fidelity(Fidelity asked, const Cluster& cluster, std::uint32_t nodes, std::uint64_t messages,
                               bool recorded = false);
FidelityChoice choose_fidelity(Fidelity asked, const Cluster& cluster, const TaskGraph& graph, bool recorded = false);

/// Outcome of folding; counts and error refer to one iteration.
struct Folded {
    FidelityChoice choice;
    std::uint64_t messages_simulated = 0, messages_folded = 0;  ///< their sum is the number of all messages
    double error_s = 0;                                         ///< upper bound of the error by folding; infinite: none
    std::uint32_t iterations_folded = 0;                        ///< number of folded iterations before the measured one
    std::uint32_t images = 1;                                   ///< ranks that each simulated one stands for
    double uneven_s = 0;                                        ///< difference of latency that is averaged
    std::uint32_t micro_batches_folded = 0;                     ///< not simulated: see micro_batches.hpp
};

Folded folded_of(FidelityChoice choice, const Timeline& timeline);

}  // namespace syncline
