#include "sim/collective/hierarchical.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace syncline {

namespace {

/// One level as a rank sees it.
struct Level {
    std::uint32_t size = 1, place = 0;
    std::uint32_t left = 0, right = 0;
    std::uint32_t first = 0;  ///< block of the part of the buffer that the group works on
    std::uint32_t count = 1;  ///< of blocks in each of its `size` pieces
};

/// size-1 steps around the ring: sends piece `start`, then each piece below, and receives the one below that. Only the
/// blocks of the whole buffer wrap around in a Step; pieces of a part begin another Step where they do.
void go_round(Program& program, const Level& level, std::uint32_t start, bool reduce) {
    for (std::uint32_t taken = 0; taken + 1 < level.size;) {
        const std::uint32_t send = (start + level.size - taken) % level.size;
        const std::uint32_t receive = (send + level.size - 1) % level.size;
        const std::uint32_t repeat = std::min(level.size - 1 - taken, std::min(send, receive) + 1);
        program.steps.push_back({{{level.right, level.first + send * level.count, level.count}},
                                 {{level.left, level.first + receive * level.count, level.count}},
                                 reduce,
                                 repeat,
                                 -static_cast<std::int32_t>(level.count)});
        taken += repeat;
    }
}

}  // namespace

Hierarchical::Hierarchical(const std::vector<HierarchyLevel>& levels, std::uint32_t ranks) {
    if (ranks == 1) return;  // alone, whatever the groups
    std::int64_t left = ranks;
    for (const HierarchyLevel& level : levels) {
        const std::int64_t size = level.size == 0 ? left : level.size;
        if (left % size != 0)
            throw AlgorithmError(
                "overlay", fmt::format("{} {} are no groups of {}", left, sizes_.empty() ? "ranks" : "groups", size),
                "the buffer is split evenly: choose sizes that divide the ranks, or 'hierarchical-leaders'");
        sizes_.push_back(static_cast<std::uint32_t>(size));
        left /= size;
    }
}

Program Hierarchical::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    std::vector<Level> levels;
    std::uint32_t first = 0, count = ranks, stride = 1;
    for (const std::uint32_t size : sizes_) {
        const std::uint32_t place = rank / stride % size;
        const std::uint32_t group = rank - place * stride;
        count /= size;
        levels.push_back({size, place, group + (place + size - 1) % size * stride, group + (place + 1) % size * stride,
                          first, count});
        go_round(program, levels.back(), place, true);
        first += (place + 1) % size * count;  // the piece whose sum is now here
        stride *= size;
    }
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
        go_round(program, *level, level->place + 1, false);
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
