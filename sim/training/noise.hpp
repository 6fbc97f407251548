#pragma once

#include <cstdint>
#include <vector>

#include "sim/taskgraph/pace.hpp"

/// Ranks that do not compute as fast as planned: all of them a little, anew in every iteration (jitter), and some of
/// them all the time (stragglers). See pace.hpp for what that is and what it leaves out.
namespace syncline {

struct Stragglers {
    std::int64_t count = 0;           ///< ranks, drawn with the seed ...
    std::vector<std::int64_t> ranks;  ///< ... or, if there are any here, these
    double slowdown = 1;
};

struct Noise {
    double jitter = 0;  ///< coefficient of variation
    Stragglers stragglers;
    std::uint64_t seed = 1;

    bool any() const { return jitter > 0 || stragglers.count > 0 || !stragglers.ranks.empty(); }
};

/// By rank. Of stragglers that are drawn, those of a larger count are those of a smaller one and some more.
std::vector<Pace> paces(const Noise& noise, std::uint32_t ranks);

}  // namespace syncline
