#pragma once

#include "sim/collective/algorithm.hpp"

/// Rabenseifner's all-reduce: a reduce-scatter by recursive halving, then an allgather by recursive doubling.
///
/// In the first half partners are at distance 1, 2, 4, … and exchange S/2, S/4, … bytes, so that the most bytes go to
/// the nearest partner; the second half is the reverse. With N = 2^k: 2 lg N·α + 2(N-1)/N·S·β + (N-1)/N·S·γ, and 2N·lg
/// N messages. Otherwise ranks are folded (fold.hpp): r = N - P ranks, P = 2^⌊lg N⌋, hand over their buffer before and
/// get the result after, and the buffer is cut into P blocks: (2⌊lg N⌋ + 2)α + (2(P-1)/P + 2)S·β + ((P-1)/P + 1)S·γ. If
/// P does not divide S, the larger half counts in every step, Σₖ ⌈S·2ᵏ/P⌉ in place of (P-1)/P·S, and that is exact: the
/// last place keeps the last blocks, which never have fewer bytes than others, in both halves. Source: R. Rabenseifner,
/// "Optimization of collective reduction operations", ICCS 2004, and R. Thakur, R. Rabenseifner, W. Gropp,
/// "Optimization of collective communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66,
/// which writes N for P in the second formula.
namespace syncline {

class Rabenseifner : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override {
        return "2⌊lg N⌋α + (P-1)/P·S(2β + γ), P = 2^⌊lg N⌋, and 2(α + Sβ) + Sγ more unless N is a power of two";
    }
};

}  // namespace syncline
