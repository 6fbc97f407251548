#include "sim/collective/factories.hpp"
#include "sim/collective/surplus_ranks.hpp"

/// Recursive halving, a reduce-scatter: a rank gives half of the data it still works on to the partner that keeps that
/// half, takes the partner's share of its own half and adds it; then both continue with half as much, at half the
/// distance.
///
/// With 2^k ranks, distances N/2 … 1: lg N·α + (N-1)/N·S·(β + γ). Otherwise ranks are folded (surplus_ranks.hpp): r = N
/// - 2^⌊lg N⌋ ranks hand over their whole buffer before and get their block of the sum after; places that act for two
/// ranks keep two blocks. Place 0 keeps the most in every step: with c = S/N the time is (⌊lg N⌋ + 2)α + (S + (2^⌊lg N⌋
/// - 1 + Σₖ min(2ᵏ, r))·c)(β + γ) + c·β, k < ⌊lg N⌋. If N does not divide S, with 2^k ranks halves are rounded up;
/// otherwise there is no closed form; nor if α travels and ranks are folded (recursive_doubling.cpp). Source: R.
/// Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int. J. High
/// Perform. Comput. Appl. 19 (2005) 49-66, and MPICH's reduce_scatter_intra_recursive_halving.c; the time of the folded
/// algorithm follows from the steps.
namespace syncline {

namespace {

class RecursiveHalving : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, ranks}, {}};
        const SurplusRanks surplus(ranks);
        if (surplus.without_place(rank)) {
            program.steps.push_back({{{rank + 1, 0, ranks}}, {}});
            program.steps.push_back({{}, {{rank + 1, rank}}});
            return program;
        }
        if (surplus.paired(rank)) program.steps.push_back({{}, {{rank - 1, 0, ranks}}, true});
        const std::uint32_t place = surplus.place(rank);
        for (std::uint32_t distance = surplus.places / 2; distance > 0; distance /= 2) {
            const std::uint32_t partner = surplus.rank_at(place ^ distance);
            const auto half = [&](std::uint32_t kept_by) {
                const Blocks blocks = surplus.blocks_around(kept_by, distance);
                return Message{partner, blocks.block, blocks.count};
            };
            program.steps.push_back({{half(place ^ distance)}, {half(place)}, true});
        }
        if (surplus.paired(rank)) program.steps.push_back({{{rank - 1, rank - 1}}, {}});
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const SurplusRanks surplus(ranks);
        if (surplus.count != 0 && (bytes % ranks != 0 || message.travels)) return {};
        const Partition partition{bytes, ranks};
        const auto transfer = [&](std::uint32_t blocks) {
            return message.alpha_s + static_cast<double>(partition.largest(blocks)) * message.beta_s_per_B;
        };
        const auto reduced = [&](std::uint32_t blocks) {
            return transfer(blocks) + static_cast<double>(partition.largest(blocks)) * message.gamma_s_per_B;
        };
        double total = surplus.count == 0 ? 0 : reduced(ranks) + transfer(1);
        for (std::uint32_t distance = surplus.places / 2; distance > 0; distance /= 2)
            total += reduced(surplus.ranks_before(distance));
        return total;
    }

    std::string formula(bool) const override {
        return "lg N·α + (N-1)/N·S(β+γ); (⌊lg N⌋+2)α + (N + 2^⌊lg N⌋-1 + Σₖ min(2ᵏ, r))/N·S(β+γ) + S/N·β unless N = "
               "2^⌊lg N⌋ + r is a power of two";
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::recursive_halving(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<RecursiveHalving>();
}

}  // namespace syncline
