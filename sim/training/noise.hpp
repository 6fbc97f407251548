#pragma once

#include <cstdint>
#include <vector>

#include "sim/taskgraph/pace.hpp"

/// Ranks that compute more slowly than planned: all of them slightly and differently in every iteration (jitter), some
/// of them all the time (stragglers). See pace.hpp for the model and what it leaves out.
namespace syncline {

struct Stragglers {
    std::int64_t count = 0;           ///< number of ranks, drawn with the seed ...
    std::vector<std::int64_t> ranks;  ///< ... or, if not empty, these ranks
    double slowdown = 1;
};

struct Noise {
    double jitter = 0;  ///< coefficient of variation
    Stragglers stragglers;
    std::uint64_t seed = 1;

    bool any() const { return jitter > 0 || stragglers.count > 0 || !stragglers.ranks.empty(); }
};

/// Returns the paces by rank. Drawn stragglers are nested: a larger count includes the ranks of a smaller one.
std::vector<Pace> paces(const Noise& noise, std::uint32_t ranks);

}  // namespace syncline
