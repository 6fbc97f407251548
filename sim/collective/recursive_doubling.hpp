#pragma once

#include "sim/collective/algorithm.hpp"

/// Recursive doubling: in step k every rank exchanges its whole sum with the rank whose number differs in bit k.
///
/// With 2^k ranks, k = lg N steps of α + S·β + S·γ each, and N·k messages of S bytes. Otherwise r = N - 2^⌊lg N⌋ ranks
/// are too many: of the first 2r ranks each even one gives its contribution to the odd one behind it before, and gets
/// the result from it after. The odd ones start a step later and keep everyone from going ahead of them, so that the
/// time is ⌊lg N⌋(α + S·β + S·γ) + 2(α + S·β) + S·γ, with 2^⌊lg N⌋·⌊lg N⌋ + 2r messages. Every link carries one message
/// at a time in each direction. Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
/// operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
namespace syncline {

class RecursiveDoubling : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override {
        return "⌊lg N⌋(α + Sβ + Sγ), and 2(α + Sβ) + Sγ more unless N is a power of two";
    }
};

}  // namespace syncline
