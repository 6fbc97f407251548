#include "sim/collective/factories.hpp"
#include "sim/collective/surplus_ranks.hpp"

/// Rabenseifner's all-reduce: a reduce-scatter by recursive halving, then an allgather by recursive doubling.
///
/// In the first half partners are at distance 1, 2, 4, … and exchange S/2, S/4, … bytes, so that the most bytes go to
/// the nearest partner; the second half is the reverse. With N = 2^k: 2 lg N·α + 2(N-1)/N·S·β + (N-1)/N·S·γ, and 2N·lg
/// N messages. Otherwise ranks are folded (surplus_ranks.hpp): r = N - P ranks, P = 2^⌊lg N⌋, hand over their buffer
/// before and get the result after, and the buffer is cut into P blocks: (2⌊lg N⌋ + 2)α + (2(P-1)/P + 2)S·β + ((P-1)/P
/// + 1)S·γ. If P does not divide S, the larger half counts in every step, Σₖ ⌈S·2ᵏ/P⌉ in place of (P-1)/P·S, and that
/// is exact: the last place keeps the last blocks, which never have fewer bytes than others, in both halves. Source: R.
/// Rabenseifner, "Optimization of collective reduction operations", ICCS 2004, and R. Thakur, R. Rabenseifner, W.
/// Gropp, "Optimization of collective communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005)
/// 49-66, which writes N for P in the second formula.
namespace syncline {

namespace {

class Rabenseifner : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        const SurplusRanks surplus(ranks);
        const std::uint32_t places = surplus.places;
        Program program{{bytes, places}, {}};
        if (surplus.without_place(rank)) {
            program.steps.push_back({{{rank + 1, 0, places}}, {}});
            program.steps.push_back({{}, {{rank + 1, 0, places}}});
            return program;
        }
        if (surplus.paired(rank)) program.steps.push_back({{}, {{rank - 1, 0, places}}, true});
        const std::uint32_t place = surplus.place(rank);
        std::uint32_t kept = 0, count = places;  // blocks that this place works on
        for (std::uint32_t distance = 1; distance < places; distance *= 2) {
            const std::uint32_t partner = surplus.rank_at(place ^ distance);
            count /= 2;
            if ((place & distance) != 0) kept += count;
            program.steps.push_back({{{partner, kept ^ count, count}}, {{partner, kept, count}}, true});
        }
        for (std::uint32_t distance = places / 2; distance > 0; distance /= 2) {
            const std::uint32_t partner = surplus.rank_at(place ^ distance);
            program.steps.push_back({{{partner, kept, count}}, {{partner, kept ^ count, count}}});
            kept &= ~count;
            count *= 2;
        }
        if (surplus.paired(rank)) program.steps.push_back({{{rank - 1, 0, places}}, {}});
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const SurplusRanks surplus(ranks);
        const Partition partition{bytes, surplus.places};
        const auto both_ways = [&](std::uint32_t blocks) {
            const auto size = static_cast<double>(partition.largest(blocks));
            return 2 * (message.alpha_s + size * message.beta_s_per_B) + size * message.gamma_s_per_B;
        };
        double total = surplus.count == 0 ? 0 : both_ways(surplus.places);
        for (std::uint32_t count = surplus.places / 2; count > 0; count /= 2) total += both_ways(count);
        return total;
    }

    std::string formula(bool) const override {
        return "2⌊lg N⌋α + (P-1)/P·S(2β + γ), P = 2^⌊lg N⌋, and 2(α + Sβ) + Sγ more unless N is a power of two";
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::rabenseifner(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<Rabenseifner>();
}

}  // namespace syncline
