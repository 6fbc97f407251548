#pragma once

#include "sim/report/report.hpp"

/// The parts of a page's data: each a JSON value that the scripts draw from.
namespace syncline {

/// Null where there is nothing but the result.
Json page_explanation(const Explanation& explanation, const PageLimits& limits);

/// Bars by process and kind of stream, in parts of the window:
/// {tick_s, window_s, names: [...], lanes: [{process, stream, bars: [kind, start, end, name, tasks, ...]}], notes}.
/// `last_rank` is drawn in any case. A bar that is too short to be seen is one with its neighbour of the same kind.
Json page_timeline(const TimelineView& view, std::int64_t ranks, std::uint32_t last_rank, const PageLimits& limits);

/// How much of every link is used: {links: [{link, bytes, utilisation}], cables: [...], notes}, `cables` by cable of
/// the picture, the busier direction. `picture`: the fabric as SVG, or nothing if that is too large.
Json page_links(const Cluster& cluster, const Result& result, const TimelineView* view, const PageLimits& limits,
                std::string& picture);

/// `count` of `all`, evenly, the first and the last among them, and `wanted`; ascending.
std::vector<std::uint32_t> picked(std::uint32_t all, std::size_t count, std::uint32_t wanted);

}  // namespace syncline
