#pragma once

#include "sim/collective/algorithm.hpp"

/// Shift: every one of N ranks sends its buffer of S bytes to the next rank and receives that of the previous one, the
/// step of which rings consist. Time α + Sβ, N·S bytes.
namespace syncline {

class Shift : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula(bool) const override { return "α + Sβ"; }
};

}  // namespace syncline
