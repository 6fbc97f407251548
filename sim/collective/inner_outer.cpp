#include "sim/collective/inner_outer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace syncline {

namespace {

/// Counts the distances 1, 2, 4 … in a circle of `size`, at least one.
std::uint32_t distances(std::uint32_t size) {
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::bit_width(size - 1)));
}

/// Returns the place that is the round's distance further on, or back, in a circle.
std::uint32_t further(std::uint32_t from, std::uint32_t size, std::uint32_t round, std::int64_t direction) {
    const std::int64_t distance = std::int64_t{1} << (round % distances(size));
    const std::int64_t to = (from + direction * distance) % size;
    return static_cast<std::uint32_t>(to < 0 ? to + size : to);
}

}  // namespace

InnerOuterGossip::InnerOuterGossip(std::uint32_t group_size, std::uint32_t ranks)
    : group_(std::min(group_size, ranks)), groups_(ranks / group_) {
    if (ranks % group_ != 0)
        throw AlgorithmError("overlay", fmt::format("{} ranks cannot be divided into groups of {}", ranks, group_),
                             "inner-outer needs groups of equal size");
}

std::uint32_t InnerOuterGossip::peer(std::uint32_t rank, std::uint32_t round, std::int64_t direction) const {
    const std::uint32_t number = rank / group_, place = rank % group_, first = number * group_;
    if (groups_ == 1) return further(place, group_, round, direction);
    const std::uint32_t speaker = round % group_;
    if (place == speaker) return further(number, groups_, round, direction) * group_ + place;
    // Numbers the places of the circle without the speaker.
    const std::uint32_t seat = place - (place > speaker ? 1 : 0);
    const std::uint32_t other = further(seat, group_ - 1, round, direction);
    return first + other + (other >= speaker ? 1 : 0);
}

Program InnerOuterGossip::program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t round) const {
    const std::uint32_t to = peer(rank, round, 1), from = peer(rank, round, -1);
    Program program{{bytes, 1}, {}};
    // A rank that is alone in a circle does not send to itself, and then does not receive either.
    if (to != rank) program.steps.push_back({{{to, 0}}, {{from, 0}}, true});
    return program;
}

std::uint32_t InnerOuterGossip::period() const {
    if (groups_ == 1) return distances(group_);
    const std::uint32_t inner = group_ > 1 ? distances(group_ - 1) : 1;
    return std::lcm(group_, std::lcm(distances(groups_), inner));
}

std::optional<double> InnerOuterGossip::cost(std::uint32_t ranks, std::uint64_t bytes,
                                             const MessageCost& message) const {
    if (ranks == 1) return 0;
    return message.alpha_s + static_cast<double>(bytes) * (message.beta_s_per_B + message.gamma_s_per_B);
}

}  // namespace syncline
