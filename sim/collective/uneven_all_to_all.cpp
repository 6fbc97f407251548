#include "sim/collective/uneven_all_to_all.hpp"

#include <algorithm>
#include <cmath>

namespace syncline {

namespace {

constexpr std::uint32_t units = 1 << 24;

}  // namespace

UnevenAllToAll::UnevenAllToAll(const std::vector<double>& shares, Direction direction, bool pairwise)
    : direction_(direction), pairwise_(pairwise) {
    double until = 0;
    begins_.push_back(0);
    for (const double share : shares) {
        until += share;
        begins_.push_back(std::min(units, static_cast<std::uint32_t>(std::lround(until * units))));
    }
    begins_.back() = units;
}

Program UnevenAllToAll::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
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

std::optional<double> UnevenAllToAll::cost(std::uint32_t ranks, std::uint64_t, const MessageCost&) const {
    return ranks == 1 ? std::optional(0.0) : std::nullopt;
}

}  // namespace syncline
