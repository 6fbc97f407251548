#pragma once

#include "sim/collective/algorithm.hpp"

/// Recursive doubling: in step k every rank exchanges all that it has with the rank whose number differs in bit k.
///
/// All-reduce, with 2^k ranks: k = lg N steps of α + S·β + S·γ each, and N·k messages of S bytes. Otherwise ranks are
/// folded (fold.hpp): r = N - 2^⌊lg N⌋ ranks hand over their contribution before and get the result after. The ranks
/// that take it start a step later and delay all others, so the time is ⌊lg N⌋(α + S·β + S·γ) + 2(α + S·β) + S·γ, with
/// 2^⌊lg N⌋·⌊lg N⌋ + 2r messages. Every link carries one message at a time in each direction.
///
/// Allgather: the exchanged data doubles with every step, lg N·α + (N-1)/N·S·β with 2^k ranks. Otherwise folded ranks
/// hand over their block before, some places have two blocks, and afterwards a folded rank gets the N-1 blocks that are
/// not its own. Place 0 sends the most in every step: with c = S/N the time is (⌊lg N⌋ + 2)α + (2^⌊lg N⌋ + Σₖ min(2ᵏ,
/// r) + N-1)·c·β, k < ⌊lg N⌋. If N does not divide S, with 2^k ranks the doubling sizes are rounded up; otherwise there
/// is no closed form. MPICH's algorithm for such N sends the missing blocks down subtrees within the steps, up to 2⌊lg
/// N⌋ messages in turn; Open MPI has none.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int.
/// J. High Perform. Comput. Appl. 19 (2005) 49-66; the time of the folded allgather follows from the steps.
namespace syncline {

class RecursiveDoubling : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override {
        return "⌊lg N⌋(α + Sβ + Sγ), and 2(α + Sβ) + Sγ more unless N is a power of two";
    }
};

class RecursiveDoublingAllgather : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override {
        return "lg N·α + (N-1)/N·Sβ; (⌊lg N⌋+2)α + (2^⌊lg N⌋ + Σₖ min(2ᵏ, r) + N-1)/N·Sβ unless N = 2^⌊lg N⌋ + r is a "
               "power of two";
    }
};

}  // namespace syncline
