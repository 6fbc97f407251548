#pragma once

#include <cstdint>
#include <vector>

#include "sim/taskgraph/pace.hpp"

/// Noise of a training: jitter in every iteration, of ranks or their nodes; stragglers, slow all the time; and messages
/// of varying latency. See pace.hpp for the model and what it leaves out.
namespace syncline {

struct Stragglers {
    std::int64_t count = 0;           ///< number of ranks, drawn with the seed ...
    std::vector<std::int64_t> ranks;  ///< ... or, if not empty, these ranks
    double slowdown = 1;
};

struct Noise {
    double jitter = 0;  ///< coefficient of variation of each rank's computation
    Stragglers stragglers = {};
    std::uint64_t seed = 1;
    double node_jitter = 0;     ///< coefficient of variation of the computation of a node's ranks together
    double message_jitter = 0;  ///< coefficient of variation of a message's latency

    /// Returns whether iterations differ.
    bool varies() const { return jitter > 0 || node_jitter > 0 || message_jitter > 0; }
    bool any() const { return varies() || stragglers.count > 0 || !stragglers.ranks.empty(); }
    Lateness lateness() const { return {message_jitter, seed}; }
};

/// Returns the paces by rank, all on node 0. Drawn stragglers are nested: a larger count includes the ranks of a
/// smaller one.
std::vector<Pace> paces(const Noise& noise, std::uint32_t ranks);

}  // namespace syncline
