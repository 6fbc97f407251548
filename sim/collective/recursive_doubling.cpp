#include "sim/collective/recursive_doubling.hpp"

#include <bit>

#include "sim/collective/fold.hpp"

namespace syncline {

Program RecursiveDoubling::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, 1}, {}};
    const Fold fold(ranks);
    if (fold.folded(rank)) {
        program.steps.push_back({{{rank + 1, 0}}, {}});
        program.steps.push_back({{}, {{rank + 1, 0}}});
        return program;
    }
    if (fold.paired(rank)) program.steps.push_back({{}, {{rank - 1, 0}}, true});
    for (std::uint32_t distance = 1; distance < fold.places; distance *= 2) {
        const std::uint32_t partner = fold.rank_at(fold.place(rank) ^ distance);
        program.steps.push_back({{{partner, 0}}, {{partner, 0}}, true});
    }
    if (fold.paired(rank)) program.steps.push_back({{{rank - 1, 0}}, {}});
    return program;
}

std::optional<double> RecursiveDoubling::cost(std::uint32_t ranks, std::uint64_t bytes,
                                              const MessageCost& message) const {
    const auto size = static_cast<double>(bytes);
    const double transfer = message.alpha_s + size * message.beta_s_per_B;
    const double reduction = size * message.gamma_s_per_B;
    const double doubling = (std::bit_width(ranks) - 1) * (transfer + reduction);
    return std::has_single_bit(ranks) ? doubling : doubling + 2 * transfer + reduction;
}

Program RecursiveDoublingAllgather::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                                            std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    const Fold fold(ranks);
    if (fold.folded(rank)) {
        program.steps.push_back({{{rank + 1, rank}}, {}});
        program.steps.push_back({{}, {{rank + 1, rank + 1, ranks - 1}}});
        return program;
    }
    if (fold.paired(rank)) program.steps.push_back({{}, {{rank - 1, rank - 1}}});
    const std::uint32_t place = fold.place(rank);
    for (std::uint32_t distance = 1; distance < fold.places; distance *= 2) {
        const std::uint32_t partner = fold.rank_at(place ^ distance);
        const auto gathered = [&](std::uint32_t of_place) {
            const Blocks blocks = fold.blocks_around(of_place, distance);
            return Message{partner, blocks.block, blocks.count};
        };
        program.steps.push_back({{gathered(place)}, {gathered(place ^ distance)}});
    }
    if (fold.paired(rank)) program.steps.push_back({{{rank - 1, rank, ranks - 1}}, {}});
    return program;
}

std::optional<double> RecursiveDoublingAllgather::cost(std::uint32_t ranks, std::uint64_t bytes,
                                                       const MessageCost& message) const {
    const Fold fold(ranks);
    if (fold.extra != 0 && bytes % ranks != 0) return {};
    const Partition partition{bytes, ranks};
    const auto transfer = [&](std::uint32_t blocks) {
        return message.alpha_s + static_cast<double>(partition.largest(blocks)) * message.beta_s_per_B;
    };
    double total = fold.extra == 0 ? 0 : transfer(1) + transfer(ranks - 1);
    for (std::uint32_t distance = 1; distance < fold.places; distance *= 2)
        total += transfer(fold.ranks_before(distance));
    return total;
}

}  // namespace syncline
