#pragma once

#include <cstdint>
#include <string>

#include "sim/platform/cluster.hpp"
#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/plan.hpp"

/// What of a replay is simulated message by message, and what is folded: sim/replay/folding.hpp.
namespace syncline {

/// Above so many messages in one iteration, or in all sizes of a sweep, `Fidelity::automatic` is folded: some seconds.
inline constexpr std::uint64_t many_messages = 1'000'000;

struct FidelityChoice {
    Fidelity asked = Fidelity::message;  ///< by the plan
    bool folds = false;
    std::string why;  ///< a clause; empty where it is as the plan says
};

/// Links of a native platform may change with time, so that nothing there can be taken to repeat; nor is anything
/// folded where every message is `recorded`.
FidelityChoice choose_fidelity(Fidelity asked, const Cluster& cluster, const TaskGraph& graph, bool recorded = false);

/// What came of it; counts and error of one iteration.
struct Folded {
    FidelityChoice choice;
    std::uint64_t messages_simulated = 0, messages_folded = 0;  ///< together all messages
    double error_s = 0;                                         ///< what that can have changed, at most
    std::uint32_t iterations_folded = 0;                        ///< of those before the measured one
};

Folded folded_of(FidelityChoice choice, const Timeline& timeline);

}  // namespace syncline
