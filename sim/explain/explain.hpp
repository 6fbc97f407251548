#pragma once

#include <cstdint>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/what_if.hpp"

/// The question that a person asks after the first: why does an iteration take so long?
namespace syncline {

struct ExplainOptions {
    Watch watch = {};
    /// Beyond so many messages in the window and the iteration before it they are not recorded, and exchanges are one
    /// piece each.
    std::uint64_t most_messages = 8'000'000;
    /// Simulates it again without contention, for Explanation::uncontended_time_s, and without noise, for stragglers.
    bool uncontended = true;
    std::vector<Change> changes = {};  ///< each simulated again
};

/// Simulates `training` as simulate() does, recording what happens. `view`: if given, filled with what was recorded.
Explanation explain(const Lowered& training, const ExplainOptions& options = {}, TimelineView* view = nullptr);

}  // namespace syncline
