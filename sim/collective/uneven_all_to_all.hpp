#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

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
    UnevenAllToAll(const std::vector<double>& shares, Direction direction, bool pairwise)
        : direction_(direction), pairwise_(pairwise) {
        double until = 0;
        begins_.push_back(0);
        for (const double share : shares) {
            until += share;
            begins_.push_back(std::min(units, static_cast<std::uint32_t>(std::lround(until * units))));
        }
        begins_.back() = units;
    }

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, units}, {}};
        const auto message = [&](std::uint32_t peer, std::uint32_t owner) {
            return Message{.peer = peer, .block = begins_[owner], .count = begins_[owner + 1] - begins_[owner]};
        };
        for (std::uint32_t distance = 1; distance < ranks; ++distance) {
            const std::uint32_t to = (rank + distance) % ranks, from = (rank + ranks - distance) % ranks;
            const bool apart = direction_ == Direction::apart;
            if (program.steps.empty() || pairwise_) program.steps.emplace_back();
            program.steps.back().sends.push_back(message(to, apart ? to : rank));
            program.steps.back().receives.push_back(message(from, apart ? rank : from));
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t, const MessageCost&) const override {
        return ranks == 1 ? std::optional(0.0) : std::nullopt;
    }

    std::string formula(bool) const override { return "an all-to-all of unequal blocks"; }

private:
    static constexpr std::uint32_t units = 1 << 24;

    std::vector<std::uint32_t> begins_;  ///< in units; one more than there are ranks
    Direction direction_;
    bool pairwise_;
};

}  // namespace syncline
