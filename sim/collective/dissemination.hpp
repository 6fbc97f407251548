#pragma once

#include "sim/collective/algorithm.hpp"

/// Dissemination barrier: in step k every rank tells the rank 2^k places on that it, and all that it has heard of, have
/// come.
///
/// After ⌈lg N⌉ steps every rank has heard of all, for any N. Messages are empty, whatever the buffer: N·⌈lg N⌉ of
/// them, ⌈lg N⌉α. Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", Int. J.
/// Parallel Program. 17 (1988) 1-17.
namespace syncline {

class Dissemination : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "⌈lg N⌉α"; }
};

}  // namespace syncline
