#pragma once

#include "sim/collective/algorithm.hpp"

/// Halo exchange: neighbours in a row of N ranks send each other the edges of their parts, S bytes each, before a
/// convolution in domain parallelism: α + min(2, N-1)·S·β on full-duplex links. A. Gholami et al. (SPAA 2018) count α +
/// S·β, one edge.
namespace syncline {

class Halo : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula(bool) const override { return "α + min(2, N-1)Sβ"; }
};

}  // namespace syncline
