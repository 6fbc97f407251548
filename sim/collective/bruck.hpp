#pragma once

#include "sim/collective/algorithm.hpp"

/// Bruck's algorithms: ⌈lg N⌉ steps for any N, with a rank 2^k places away in step k.
///
/// Allgather: a rank sends the blocks that it has, its own and those that follow, modulo N, to the rank 2^k before it;
/// in the last step only as many as are missing. The time is ⌈lg N⌉α + (N-1)/N·S·β; if N does not divide S, each step
/// counts the largest such range of blocks. That is exact for any S: with s = S mod N, the rank v for which s·v mod N
/// is largest sends the largest range in every step, because s·v mod N + gcd(s, N) = N.
///
/// All-to-all: data for the rank d places on waits in slot d, for all d. In step k a rank sends all slots whose number
/// has bit k set to the rank 2^k places on, in one message, and puts the received slots in their place; in the end slot
/// d holds the data from d places before. Slots are padded to ⌈S/N⌉, because MPI's blocks all have the same size:
/// N·⌈S/N⌉ bytes in the buffer. With nₖ slots that have bit k set, the time is Σₖ (α + nₖ·⌈S/N⌉·β), which is lg N(α +
/// S/2·β) with N = 2^k: fewer messages than direct, and lg N/2 times the bytes.
///
/// Left out: the rotations of the buffer before and after, which are copies inside a rank. Source: J. Bruck, C.-T. Ho,
/// S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all communications in multiport message-passing
/// systems", IEEE Trans. Parallel Distrib. Syst. 8 (1997) 1143-1156.
namespace syncline {

class BruckAllgather : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "⌈lg N⌉α + (N-1)/N·Sβ"; }
};

class BruckAllToAll : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "Σₖ α + nₖ⌈S/N⌉β, nₖ = number of distances 1 … N-1 with bit k"; }
};

}  // namespace syncline
