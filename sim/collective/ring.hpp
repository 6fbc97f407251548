#pragma once

#include "sim/collective/algorithm.hpp"

/// Ring algorithms: every rank sends to its right neighbour, and receives from its left one.
///
/// Reduce-scatter: in each of N-1 steps a rank passes one of N blocks on, and adds its own contribution to the block
/// that it receives. Block r starts at the rank after r and is complete when it reaches r. Allgather: the same without
/// adding. Each is N(N-1) messages, (N-1)·S bytes in all, and takes (N-1)(α + c·β), the reduce-scatter (N-1)·c·γ more,
/// with the largest block c = ⌈S/N⌉; that is exact even if blocks differ. The all-reduce is both in turn: 2(N-1)(α +
/// c·β) + (N-1)·c·γ. Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", J. Parallel Distrib. Comput. 69 (2009) 117-124.
///
/// If only q ranks contribute to the allgather, the other blocks are empty, c = ⌈S/q⌉. In an all-reduce with fewer
/// contributors or receivers ranks without data take part with zeros: variant (iv) in contributors.cpp.
namespace syncline {

/// A ring as seen by one of its members, and the part of the buffer that it passes around: as many pieces as there are
/// members, each of `count` blocks, starting with block `first`.
struct Ring {
    std::uint32_t size = 1;
    std::uint32_t left = 0, right = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 1;
};

/// Returns the ring of the first `size` ranks, seen by `rank`, with pieces of `count` blocks from block 0 on.
Ring ring_of(std::uint32_t rank, std::uint32_t size, std::uint32_t count = 1);

/// Adds size-1 steps around the ring: sends piece `start`, then each piece below, and receives the piece below that.
void go_round(Program& program, const Ring& ring, std::uint32_t start, bool reduce);

class RingAllreduce : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula(bool) const override { return "2(N-1)(α + ⌈S/N⌉β) + (N-1)⌈S/N⌉γ"; }
};

class RingReduceScatter : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula(bool) const override { return "(N-1)(α + ⌈S/N⌉β + ⌈S/N⌉γ)"; }
};

class RingAllgather : public CollectiveAlgorithm {
public:
    explicit RingAllgather(std::uint32_t contributors) : contributors_(contributors) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula(bool) const override { return "(N-1)(α + ⌈S/q⌉β), q contributors"; }

private:
    std::uint32_t contributors_;
};

}  // namespace syncline
