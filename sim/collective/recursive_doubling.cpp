#include <bit>

#include "sim/collective/factories.hpp"
#include "sim/collective/surplus_ranks.hpp"

/// Recursive doubling: in step k every rank exchanges all that it has with the rank whose number differs in bit k.
///
/// All-reduce, with 2^k ranks: k = lg N steps of α + S·β + S·γ each, and N·k messages of S bytes. Otherwise ranks are
/// folded (surplus_ranks.hpp): r = N - 2^⌊lg N⌋ ranks hand over their contribution before and get the result after. The
/// ranks that take it start a step later and delay all others, so the time is ⌊lg N⌋(α + S·β + S·γ) + 2(α + S·β) + S·γ,
/// with 2^⌊lg N⌋·⌊lg N⌋ + 2r messages. Every link carries one message at a time in each direction.
///
/// Allgather: the exchanged data doubles with every step, lg N·α + (N-1)/N·S·β with 2^k ranks. Otherwise folded ranks
/// hand over their block before, some places have two blocks, and afterwards a folded rank gets the N-1 blocks that are
/// not its own. Place 0 sends the most in every step: with c = S/N the time is (⌊lg N⌋ + 2)α + (2^⌊lg N⌋ + Σₖ min(2ᵏ,
/// r) + N-1)·c·β, k < ⌊lg N⌋. If N does not divide S, with 2^k ranks the doubling sizes are rounded up; otherwise there
/// is no closed form. MPICH's algorithm for such N sends the missing blocks down subtrees within the steps, up to 2⌊lg
/// N⌋ messages in turn; Open MPI has none.
///
/// If α travels and ranks are folded, those that act for two are ahead of others by some of the α, depending on N:
/// there is no closed form.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int.
/// J. High Perform. Comput. Appl. 19 (2005) 49-66; the time of the folded allgather follows from the steps.
namespace syncline {

namespace {

class RecursiveDoubling : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, 1}, {}};
        const SurplusRanks surplus(ranks);
        if (surplus.without_place(rank)) {
            program.steps.push_back({{{rank + 1, 0}}, {}});
            program.steps.push_back({{}, {{rank + 1, 0}}});
            return program;
        }
        if (surplus.paired(rank)) program.steps.push_back({{}, {{rank - 1, 0}}, true});
        for (std::uint32_t distance = 1; distance < surplus.places; distance *= 2) {
            const std::uint32_t partner = surplus.rank_at(surplus.place(rank) ^ distance);
            program.steps.push_back({{{partner, 0}}, {{partner, 0}}, true});
        }
        if (surplus.paired(rank)) program.steps.push_back({{{rank - 1, 0}}, {}});
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (message.travels && !std::has_single_bit(ranks)) return {};
        const auto size = static_cast<double>(bytes);
        const double transfer = message.alpha_s + size * message.beta_s_per_B;
        const double reduction = size * message.gamma_s_per_B;
        const double doubling = (std::bit_width(ranks) - 1) * (transfer + reduction);
        return std::has_single_bit(ranks) ? doubling : doubling + 2 * transfer + reduction;
    }

    std::string formula(bool) const override {
        return "⌊lg N⌋(α + Sβ + Sγ), and 2(α + Sβ) + Sγ more unless N is a power of two";
    }
};

class RecursiveDoublingAllgather : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, ranks}, {}};
        const SurplusRanks surplus(ranks);
        if (surplus.without_place(rank)) {
            program.steps.push_back({{{rank + 1, rank}}, {}});
            program.steps.push_back({{}, {{rank + 1, rank + 1, ranks - 1}}});
            return program;
        }
        if (surplus.paired(rank)) program.steps.push_back({{}, {{rank - 1, rank - 1}}});
        const std::uint32_t place = surplus.place(rank);
        for (std::uint32_t distance = 1; distance < surplus.places; distance *= 2) {
            const std::uint32_t partner = surplus.rank_at(place ^ distance);
            const auto gathered = [&](std::uint32_t of_place) {
                const Blocks blocks = surplus.blocks_around(of_place, distance);
                return Message{partner, blocks.block, blocks.count};
            };
            program.steps.push_back({{gathered(place)}, {gathered(place ^ distance)}});
        }
        if (surplus.paired(rank)) program.steps.push_back({{{rank - 1, rank, ranks - 1}}, {}});
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const SurplusRanks surplus(ranks);
        if (surplus.count != 0 && (bytes % ranks != 0 || message.travels)) return {};
        const Partition partition{bytes, ranks};
        const auto transfer = [&](std::uint32_t blocks) {
            return message.alpha_s + static_cast<double>(partition.largest(blocks)) * message.beta_s_per_B;
        };
        double total = surplus.count == 0 ? 0 : transfer(1) + transfer(ranks - 1);
        for (std::uint32_t distance = 1; distance < surplus.places; distance *= 2)
            total += transfer(surplus.ranks_before(distance));
        return total;
    }

    std::string formula(bool) const override {
        return "lg N·α + (N-1)/N·Sβ; (⌊lg N⌋+2)α + (2^⌊lg N⌋ + Σₖ min(2ᵏ, r) + N-1)/N·Sβ unless N = 2^⌊lg N⌋ + r is a "
               "power of two";
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::recursive_doubling(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<RecursiveDoubling>();
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::recursive_doubling_allgather(const AlgorithmSpec&,
                                                                                    std::uint32_t) {
    return std::make_shared<RecursiveDoublingAllgather>();
}

}  // namespace syncline
