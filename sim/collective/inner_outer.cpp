#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <numeric>

#include "sim/collective/factories.hpp"
#include "sim/collective/overlay.hpp"

/// One-peer gossip in groups, each of which has one rank at a time that communicates with another group (inner-outer
/// exponential).
///
/// Ranks form M groups of g, one group per node. In round t, rank t mod g of every group sends its buffer to the same
/// rank of the group 2^k further on, k = t mod ⌈lg M⌉; the other g - 1 ranks of a group form a circle without that
/// rank, and send to the rank 2^j further on, j = t mod ⌈lg(g - 1)⌉. A group thus sends one buffer of S bytes to other
/// groups in each round, whatever its size; if each of the N ranks had a peer 2^k further on (see Gossip), all g ranks
/// of a group would send to other groups for k ≥ lg g. If there is only one group, its g ranks form the circle; a rank
/// that would send to itself idles. Time α + S·β + S·γ.
///
/// Source: GetInnerOuterExpo2DynamicSendRecvRanks of BlueFog (Bluefog-Lib/bluefog, bluefog/common/topology_util.py); B.
/// Ying et al., "BlueFog: make decentralized algorithms practical for optimization and deep learning",
/// arXiv:2111.04287. The averaging weights are left out: they cost nothing.
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

class InnerOuterGossip : public CollectiveAlgorithm {
public:
    /// Throws AlgorithmError on key "overlay" if `ranks` cannot be divided into whole groups.
    InnerOuterGossip(std::uint32_t group_size, std::uint32_t ranks)
        : group_(std::min(group_size, ranks)), groups_(ranks / group_) {
        if (ranks % group_ != 0)
            throw AlgorithmError("overlay", fmt::format("{} ranks cannot be divided into groups of {}", ranks, group_),
                                 "inner-outer needs groups of equal size");
    }

    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t round) const override {
        const std::uint32_t to = peer(rank, round, 1), from = peer(rank, round, -1);
        Program program{{bytes, 1}, {}};
        // A rank that is alone in a circle does not send to itself, and then does not receive either.
        if (to != rank) program.steps.push_back({{{to, 0}}, {{from, 0}}, true});
        return program;
    }

    std::uint32_t period() const override {
        if (groups_ == 1) return distances(group_);
        const std::uint32_t inner = group_ > 1 ? distances(group_ - 1) : 1;
        return std::lcm(group_, std::lcm(distances(groups_), inner));
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (ranks == 1) return 0;
        return message.alpha_s + static_cast<double>(bytes) * (message.beta_s_per_B + message.gamma_s_per_B);
    }

    std::string formula(bool) const override { return "α + Sβ + Sγ"; }

private:
    /// Returns the rank that `rank` sends to (`direction` 1) or receives from (-1) in `round`.
    std::uint32_t peer(std::uint32_t rank, std::uint32_t round, std::int64_t direction) const {
        const std::uint32_t number = rank / group_, place = rank % group_, first = number * group_;
        if (groups_ == 1) return further(place, group_, round, direction);
        const std::uint32_t speaker = round % group_;
        if (place == speaker) return further(number, groups_, round, direction) * group_ + place;
        // Numbers the places of the circle without the speaker.
        const std::uint32_t seat = place - (place > speaker ? 1 : 0);
        const std::uint32_t other = further(seat, group_ - 1, round, direction);
        return first + other + (other >= speaker ? 1 : 0);
    }

    std::uint32_t group_, groups_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::inner_outer_gossip(const AlgorithmSpec& spec,
                                                                          std::uint32_t ranks) {
    const std::int64_t size = hierarchy(spec, ranks).front().size;  // 0: the only level has an open size
    return std::make_shared<InnerOuterGossip>(size == 0 ? ranks : static_cast<std::uint32_t>(size), ranks);
}

}  // namespace syncline
