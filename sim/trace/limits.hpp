#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/replay/timeline.hpp"

/// Limits of what is drawn of a timeline: viewers cannot open files with millions of events.
namespace syncline {

/// Level of detail; each level includes the previous one: tasks; acts, the activities of streams inside exchanges;
/// messages, with the utilisation of links.
enum class TraceLevel : std::uint8_t { tasks, acts, messages };

struct TraceLimits {
    /// Ranks to draw, with all or no servers; empty: all ranks and servers.
    std::optional<std::vector<std::uint32_t>> ranks = {};
    bool servers = true;
    /// Seconds since the start of TimelineView::window; empty: the window. Events that reach into it are drawn
    /// completely.
    std::optional<Interval> time = {};
    TraceLevel level = TraceLevel::messages;
    /// Maximum number of links to draw, the most utilised ones.
    std::size_t links = 10;
};

}  // namespace syncline
