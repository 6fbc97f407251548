#pragma once

#include "sim/collective/algorithm.hpp"

/// All-to-all of unequal blocks, cut in the same proportions at each of N ranks, such as tokens by experts. `apart`:
/// every rank sends block j to rank j, which receives N-1 blocks of its size. `together`, the way back: rank j sends a
/// block of its size to every rank. N(N-1) messages, all at once (`direct`) or one partner after the other
/// (`pairwise`). Sizes are multiples of S/2^24 (rounded to bytes). No closed form: ranks wait for the one with the
/// largest blocks.
namespace syncline {

class UnevenAllToAll : public CollectiveAlgorithm {
public:
    enum class Direction { apart, together };

    /// `shares` of the buffer, by rank, add up to 1.
    UnevenAllToAll(const std::vector<double>& shares, Direction direction, bool pairwise);

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula(bool) const override { return "an all-to-all of unequal blocks"; }

private:
    std::vector<std::uint32_t> begins_;  ///< in units; one more than there are ranks
    Direction direction_;
    bool pairwise_;
};

}  // namespace syncline
