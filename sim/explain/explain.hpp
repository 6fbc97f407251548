#pragma once

#include <cstdint>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/what_if.hpp"

/// Explanation of the iteration time of a plan.
namespace syncline {

struct ExplainOptions {
    Watch watch = {};
    /// Maximum number of messages in the window and the iteration before it to record. Above it only tasks are
    /// recorded, and exchanges are one segment each.
    std::uint64_t most_messages = 8'000'000;
    /// Simulates again without contention, for Explanation::uncontended_time_s, and without noise, for the effect of
    /// stragglers.
    bool uncontended = true;
    std::vector<Change> changes = {};  ///< each is simulated again
    bool plans = false;                ///< plan_changes() are, too
    /// The view has all ranks. Else, if only tasks are recorded and replicas fold, it has those that stand for others.
    bool every_rank = false;
};

/// Simulates `training` as simulate() does and records it. `view`, if given, receives the recording.
Explanation explain(const Lowered& training, const ExplainOptions& options = {}, TimelineView* view = nullptr);

}  // namespace syncline
