#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/trace/drawing.hpp"

/// How much of its bandwidth each link carries, over time.
namespace syncline {

struct UsePoint {
    std::int64_t at_ns = 0;
    double share = 0;  ///< of the bandwidth, from then on
};

struct LinkCurve {
    std::uint32_t link = 0;  ///< of Trace::links
    std::vector<UsePoint> points;
};

struct LinkCurves {
    std::vector<LinkCurve> curves;  ///< the one that carries most for its bandwidth first
    std::size_t used = 0;           ///< links that carry anything
};

/// Of the `most` links that carry most for their bandwidth in the time that is drawn, among those on the ways of
/// processes that are shown; none below TraceLevel::messages.
///
/// A message's bytes are spread evenly over the time for which it flows, where the replay has a rate that changes with
/// what else is on its links: a share may be above 1 for a while, though the bytes are right. All messages count, also
/// of processes that are not shown. Left out: messages that flow for less than a nanosecond.
LinkCurves link_curves(const Drawing& drawing, std::size_t most);

/// For Drawing::account(): what is left out of the links; nothing if none is.
std::vector<std::string> account(const LinkCurves& links);

}  // namespace syncline
