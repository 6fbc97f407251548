#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/lowering/grouping.hpp"

namespace syncline {

/// Ranks of a stage: `ranks` of them from `first` on.
struct StageRanks {
    std::uint32_t first = 0, ranks = 1;
    auto operator<=>(const StageRanks&) const = default;
};

/// Times of exchanges without simulating messages.
class Prices {
public:
    virtual ~Prices() = default;

    /// Returns the seconds of an exchange that all groups of a stage make at the same time.
    /// `algorithm` is what was made of `spec`.
    virtual double exchange_s(StageRanks stage, const Grouping& groups, const CollectiveAlgorithm& algorithm,
                              const AlgorithmSpec& spec, std::uint64_t bytes, const Protocol& protocol = {}) = 0;

    /// Returns which of the sizes of a stage's groups determines the time of their exchange.
    virtual std::uint64_t decisive(const std::vector<std::uint64_t>& sizes) const {
        return *std::max_element(sizes.begin(), sizes.end());
    }

    /// Returns the seconds in which every rank of a stage sends `bytes` to its counterpart in the stage that begins at
    /// rank `to`.
    virtual double transfer_s(StageRanks from, std::uint32_t to, std::uint64_t bytes) = 0;
};

}  // namespace syncline
