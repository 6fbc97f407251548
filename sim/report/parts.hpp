#pragma once

#include "sim/report/report.hpp"

/// The parts of a page's data: JSON values that the page's scripts draw.
namespace syncline {

/// Returns the explanation as JSON; null if there is no explanation.
Json page_explanation(const Explanation& explanation, const PageLimits& limits);

/// Returns bars by process and kind of stream; start and end are in ticks since the start of the window:
/// {tick_s, window_s, names: [...], lanes: [{process, stream, bars: [kind, start, end, name, tasks, ...]}], notes}.
/// `last_rank` is always drawn. Bars that are too short to be seen are joined with neighbours of the same kind.
Json page_timeline(const TimelineView& view, std::int64_t ranks, std::uint32_t last_rank, const PageLimits& limits);

/// Returns the utilisation of links: {links: [{link, bytes, utilisation}], cables: [...], notes}, with `cables` by
/// cable of the picture, in the busier direction. `picture` receives the fabric as SVG, or stays empty if that is too
/// large.
Json page_links(const Cluster& cluster, const Result& result, const TimelineView* view, const PageLimits& limits,
                std::string& picture);

/// Returns `count` of the numbers below `all` in ascending order, evenly spaced and including the first, the last and
/// `wanted`.
std::vector<std::uint32_t> picked(std::uint32_t all, std::size_t count, std::uint32_t wanted);

}  // namespace syncline
