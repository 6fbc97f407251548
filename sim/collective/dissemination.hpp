#pragma once

#include "sim/collective/algorithm.hpp"

/// Dissemination barrier: in step k every rank tells the rank 2^k places on that it has arrived, and so have all ranks
/// that it has heard of.
///
/// After ⌈lg N⌉ steps every rank has heard of all others, for any N. Messages are empty, whatever the buffer: N·⌈lg N⌉
/// messages, ⌈lg N⌉α. Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", Int. J.
/// Parallel Program. 17 (1988) 1-17.
namespace syncline {

class Dissemination : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "⌈lg N⌉α"; }
};

}  // namespace syncline
