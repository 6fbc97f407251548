#include "sim/collective/recursive_halving.hpp"

#include "sim/collective/fold.hpp"

namespace syncline {

Program RecursiveHalving::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    const Fold fold(ranks);
    if (fold.folded(rank)) {
        program.steps.push_back({{{rank + 1, 0, ranks}}, {}});
        program.steps.push_back({{}, {{rank + 1, rank}}});
        return program;
    }
    if (fold.paired(rank)) program.steps.push_back({{}, {{rank - 1, 0, ranks}}, true});
    const std::uint32_t place = fold.place(rank);
    for (std::uint32_t distance = fold.places / 2; distance > 0; distance /= 2) {
        const std::uint32_t partner = fold.rank_at(place ^ distance);
        const auto half = [&](std::uint32_t kept_by) {
            const Blocks blocks = fold.blocks_around(kept_by, distance);
            return Message{partner, blocks.block, blocks.count};
        };
        program.steps.push_back({{half(place ^ distance)}, {half(place)}, true});
    }
    if (fold.paired(rank)) program.steps.push_back({{{rank - 1, rank - 1}}, {}});
    return program;
}

std::optional<double> RecursiveHalving::cost(std::uint32_t ranks, std::uint64_t bytes,
                                             const MessageCost& message) const {
    const Fold fold(ranks);
    if (fold.extra != 0 && bytes % ranks != 0) return {};
    const Partition partition{bytes, ranks};
    const auto transfer = [&](std::uint32_t blocks) {
        return message.alpha_s + static_cast<double>(partition.largest(blocks)) * message.beta_s_per_B;
    };
    const auto reduced = [&](std::uint32_t blocks) {
        return transfer(blocks) + static_cast<double>(partition.largest(blocks)) * message.gamma_s_per_B;
    };
    double total = fold.extra == 0 ? 0 : reduced(ranks) + transfer(1);
    for (std::uint32_t distance = fold.places / 2; distance > 0; distance /= 2)
        total += reduced(fold.ranks_before(distance));
    return total;
}

}  // namespace syncline
