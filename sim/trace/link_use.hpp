#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/trace/drawing.hpp"

/// Utilisation of links over time.
namespace syncline {

struct UsePoint {
    std::int64_t at_ns = 0;
    double share = 0;  ///< share of the bandwidth from that time on
};

struct LinkCurve {
    std::uint32_t link = 0;  ///< index in Trace::links
    std::vector<UsePoint> points;
};

struct LinkCurves {
    std::vector<LinkCurve> curves;  ///< the most utilised link first
    std::size_t used = 0;           ///< number of links that carry any bytes
};

/// Returns the curves of the `most` most utilised links in the drawn time range, among the links on routes of shown
/// processes; none below TraceLevel::messages. Messages of hidden processes count, too. A message's bytes are spread
/// evenly over its transfer time, so that a share may temporarily exceed 1. Left out: messages that flow for less than
/// a nanosecond.
LinkCurves link_curves(const Drawing& drawing, std::size_t most);

/// Returns the line about omitted links for Drawing::account(); empty if none are omitted.
std::vector<std::string> account(const LinkCurves& links);

}  // namespace syncline
