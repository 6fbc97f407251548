#pragma once

#include "sim/collective/algorithm.hpp"

/// Halo exchange: neighbours in a row of N ranks send each other the edges of their parts, before a convolution in
/// domain parallelism.
///
/// S bytes are one edge. Every rank except the first and the last sends two and receives two, concurrently: α + min(2,
/// N-1)·S·β on full-duplex links. A. Gholami et al. (SPAA 2018) count α + S·β, one edge.
namespace syncline {

class Halo : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula(bool) const override { return "α + min(2, N-1)Sβ"; }
};

}  // namespace syncline
