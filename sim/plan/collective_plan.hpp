#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/collective/selection.hpp"
#include "sim/plan/fidelity.hpp"
#include "sim/plan/placement.hpp"

namespace syncline {

/// A single exchange, without computation. `algorithm.name` may also be "parameter-server" (operation allreduce), whose
/// servers hold a slice each and have nodes of their own.
struct CollectivePlan {
    std::int64_t ranks = 2;
    RankPlacement placement;
    AlgorithmSpec algorithm;
    std::optional<Selection> selection = {};    ///< chooses by size, in place of `algorithm`, for its operation
    std::optional<std::int64_t> channels = {};  ///< see Plan
    std::int64_t servers = 1;
    std::uint64_t bytes = 0;  ///< size of the whole buffer, the same on every rank
    /// Sizes that are exchanged one after the other, in place of `bytes`; empty: no sweep.
    std::vector<std::uint64_t> sweep = {};
    Fidelity fidelity = Fidelity::message;
    /// For gossip whose peers change: only this round of a period, counted from 0; all_rounds: the mean over a period.
    std::int32_t round = all_rounds;

    static constexpr std::int32_t all_rounds = -1;
    bool served() const { return !selection && algorithm.name == served_allreduce; }
    std::int64_t server_nodes() const { return served() ? servers : 0; }
};

}  // namespace syncline
