#pragma once

#include "sim/collective/algorithm.hpp"

/// All-to-all, directly: every rank sends block j of its buffer to rank j, for all j at once; its own block stays.
///
/// N(N-1) messages, (N-1)·S bytes in all. Where rank i receives from rank j, the block's number i is that in the
/// sender's buffer. Time α + (N-1)·⌈S/N⌉·β: all blocks share the links alike, N-1 in and N-1 out at each rank, until
/// the smaller ones are through; then the larger ones' receivers still have full links, and no sender has more than
/// those.
namespace syncline {

class DirectAllToAll : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "α + (N-1)⌈S/N⌉β"; }
};

}  // namespace syncline
