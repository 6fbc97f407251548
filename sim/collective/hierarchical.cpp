#include "sim/collective/hierarchical.hpp"

#include <fmt/format.h>

#include "sim/collective/ring.hpp"

namespace syncline {

Hierarchical::Hierarchical(const std::vector<HierarchyLevel>& levels, std::uint32_t ranks) {
    if (ranks == 1) return;  // nothing to do, whatever the groups
    std::int64_t left = ranks;
    for (const HierarchyLevel& level : levels) {
        const std::int64_t size = level.size == 0 ? left : level.size;
        if (left % size != 0)
            throw AlgorithmError(
                "overlay",
                fmt::format("{} {} cannot be divided into groups of {}", left, sizes_.empty() ? "ranks" : "groups",
                            size),
                "the buffer is split evenly: choose sizes that divide the number of ranks, or 'hierarchical-leaders'");
        sizes_.push_back(static_cast<std::uint32_t>(size));
        left /= size;
    }
}

Program Hierarchical::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    struct Level {
        Ring ring;
        std::uint32_t place = 0;
    };
    std::vector<Level> levels;
    std::uint32_t first = 0, count = ranks, stride = 1;
    for (const std::uint32_t size : sizes_) {
        const std::uint32_t place = rank / stride % size;
        const std::uint32_t group = rank - place * stride;
        count /= size;
        const std::uint32_t left = group + (place + size - 1) % size * stride;
        const std::uint32_t right = group + (place + 1) % size * stride;
        levels.push_back({{size, left, right, first, count}, place});
        go_round(program, levels.back().ring, place, true);
        first += (place + 1) % size * count;  // the piece whose sum this rank now holds
        stride *= size;
    }
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
        go_round(program, level->ring, level->place + 1, false);
    return program;
}

std::optional<double> Hierarchical::cost(std::uint32_t, std::uint64_t bytes, const MessageCost& message) const {
    double total = 0;
    std::uint32_t pieces = 1;
    for (const std::uint32_t size : sizes_) {
        pieces *= size;
        const double hops = size - 1;
        const auto piece = static_cast<double>(Partition{bytes, pieces}.largest());
        total += 2 * hops * (message.alpha_s + piece * message.beta_s_per_B) + hops * piece * message.gamma_s_per_B;
    }
    return total;
}

}  // namespace syncline
