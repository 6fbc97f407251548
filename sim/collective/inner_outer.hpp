#pragma once

#include "sim/collective/algorithm.hpp"

/// One-peer gossip in groups, of which one rank at a time speaks to another group (inner-outer exponential).
///
/// Ranks stand in M groups of g, of a node each. In round t rank t mod g of every group sends its buffer to the same
/// rank of the group 2^k further on, k = t mod ⌈lg M⌉; the other g - 1 of a group stand in a circle, without that one,
/// and send to the one 2^j further on, j = t mod ⌈lg(g - 1)⌉. So a group sends one buffer of S bytes to others in each
/// round, however many ranks it has: where one rank of each of N had a peer 2^k further on (see Gossip), all g of a
/// group would for k ≥ lg g. With one group alone its g ranks stand in the circle; who would send to itself idles. Time
/// α + S·β + S·γ.
///
/// Source: GetInnerOuterExpo2DynamicSendRecvRanks of BlueFog (Bluefog-Lib/bluefog, bluefog/common/topology_util.py); B.
/// Ying et al., "BlueFog: make decentralized algorithms practical for optimization and deep learning",
/// arXiv:2111.04287. The averaging weights are left out: they cost nothing.
namespace syncline {

class InnerOuterGossip : public CollectiveAlgorithm {
public:
    /// Throws AlgorithmError on key "overlay" where `ranks` are not whole groups.
    InnerOuterGossip(std::uint32_t group_size, std::uint32_t ranks);
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::uint32_t period() const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "α + Sβ + Sγ"; }

private:
    /// Whom `rank` sends to, `direction` 1, or hears from, -1, in `round`.
    std::uint32_t peer(std::uint32_t rank, std::uint32_t round, std::int64_t direction) const;

    std::uint32_t group_, groups_;
};

}  // namespace syncline
