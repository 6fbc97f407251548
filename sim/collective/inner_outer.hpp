#pragma once

#include "sim/collective/algorithm.hpp"

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

class InnerOuterGossip : public CollectiveAlgorithm {
public:
    /// Throws AlgorithmError on key "overlay" if `ranks` cannot be divided into whole groups.
    InnerOuterGossip(std::uint32_t group_size, std::uint32_t ranks);
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::uint32_t period() const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "α + Sβ + Sγ"; }

private:
    /// Returns the rank that `rank` sends to (`direction` 1) or receives from (-1) in `round`.
    std::uint32_t peer(std::uint32_t rank, std::uint32_t round, std::int64_t direction) const;

    std::uint32_t group_, groups_;
};

}  // namespace syncline
