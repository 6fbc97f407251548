#include "sim/collective/rabenseifner.hpp"

#include "sim/collective/fold.hpp"

namespace syncline {

Program Rabenseifner::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    const Fold fold(ranks);
    const std::uint32_t places = fold.places;
    Program program{{bytes, places}, {}};
    if (fold.folded(rank)) {
        program.steps.push_back({{{rank + 1, 0, places}}, {}});
        program.steps.push_back({{}, {{rank + 1, 0, places}}});
        return program;
    }
    if (fold.paired(rank)) program.steps.push_back({{}, {{rank - 1, 0, places}}, true});
    const std::uint32_t place = fold.place(rank);
    std::uint32_t kept = 0, count = places;  // blocks that this place works on
    for (std::uint32_t distance = 1; distance < places; distance *= 2) {
        const std::uint32_t partner = fold.rank_at(place ^ distance);
        count /= 2;
        if ((place & distance) != 0) kept += count;
        program.steps.push_back({{{partner, kept ^ count, count}}, {{partner, kept, count}}, true});
    }
    for (std::uint32_t distance = places / 2; distance > 0; distance /= 2) {
        const std::uint32_t partner = fold.rank_at(place ^ distance);
        program.steps.push_back({{{partner, kept, count}}, {{partner, kept ^ count, count}}});
        kept &= ~count;
        count *= 2;
    }
    if (fold.paired(rank)) program.steps.push_back({{{rank - 1, 0, places}}, {}});
    return program;
}

std::optional<double> Rabenseifner::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    const Fold fold(ranks);
    const Partition partition{bytes, fold.places};
    const auto both_ways = [&](std::uint32_t blocks) {
        const auto size = static_cast<double>(partition.largest(blocks));
        return 2 * (message.alpha_s + size * message.beta_s_per_B) + size * message.gamma_s_per_B;
    };
    double total = fold.extra == 0 ? 0 : both_ways(fold.places);
    for (std::uint32_t count = fold.places / 2; count > 0; count /= 2) total += both_ways(count);
    return total;
}

}  // namespace syncline
