#pragma once

#include "sim/collective/algorithm.hpp"

/// Ring all-reduce: a reduce-scatter, then an allgather, each N-1 steps around the ring.
///
/// The buffer is cut into N blocks. In every step each rank sends one block to its right neighbour and receives one
/// from its left: 2N(N-1) messages, 2(N-1)·S bytes in all. Time 2(N-1)(α + c·β) + (N-1)·c·γ with the largest block c =
/// ⌈S/N⌉: some block of that size travels all the way, and no step is longer. Source: P. Patarasuk, X. Yuan, "Bandwidth
/// optimal all-reduce algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69 (2009) 117-124.
namespace syncline {

class RingAllreduce : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "2(N-1)(α + ⌈S/N⌉β) + (N-1)⌈S/N⌉γ"; }
};

}  // namespace syncline
