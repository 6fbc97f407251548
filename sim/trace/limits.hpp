#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/replay/timeline.hpp"

/// How much of a timeline is drawn: a file of millions of events opens in no viewer.
namespace syncline {

/// Each has what the one before it has: tasks; what streams do within exchanges; messages, and how much of its
/// bandwidth each link carries.
enum class TraceLevel : std::uint8_t { tasks, acts, messages };

struct TraceLimits {
    /// Of ranks only these, and of servers all or none; nothing: all of both.
    std::optional<std::vector<std::uint32_t>> ranks = {};
    bool servers = true;
    /// Seconds from the start of TimelineView::window; nothing: the window. What reaches into it is drawn whole.
    std::optional<Interval> time = {};
    TraceLevel level = TraceLevel::messages;
    /// So many links, those that carry most for their bandwidth.
    std::size_t links = 10;
};

}  // namespace syncline
