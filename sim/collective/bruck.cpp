#include "sim/collective/bruck.hpp"

#include <algorithm>

namespace syncline {

namespace {

/// Returns the slots whose number has this bit set.
std::vector<Blocks> slots_with(std::uint32_t bit, std::uint32_t ranks) {
    std::vector<Blocks> slots;
    for (std::uint32_t slot = bit; slot < ranks; slot += 2 * bit) slots.push_back({slot, std::min(bit, ranks - slot)});
    return slots;
}

Message message_to(std::uint32_t peer, const std::vector<Blocks>& slots) {
    const auto [block, count] = slots.front();
    return {.peer = peer, .block = block, .count = count, .more = {slots.begin() + 1, slots.end()}};
}

}  // namespace

Program BruckAllgather::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
        const std::uint32_t count = std::min(distance, ranks - distance);
        const std::uint32_t to = (rank + ranks - distance) % ranks, from = (rank + distance) % ranks;
        program.steps.push_back({{{to, rank, count}}, {{from, from, count}}});
    }
    return program;
}

std::optional<double> BruckAllgather::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    const Partition partition{bytes, ranks};
    double total = 0;
    for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
        const auto size = static_cast<double>(partition.largest(std::min(distance, ranks - distance)));
        total += message.alpha_s + size * message.beta_s_per_B;
    }
    return total;
}

Program BruckAllToAll::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{Partition{bytes, ranks}.largest() * ranks, ranks}, {}};
    for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
        const std::vector<Blocks> slots = slots_with(distance, ranks);
        const std::uint32_t to = (rank + distance) % ranks, from = (rank + ranks - distance) % ranks;
        program.steps.push_back({{message_to(to, slots)}, {message_to(from, slots)}});
    }
    return program;
}

std::optional<double> BruckAllToAll::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    const auto slot_bytes = static_cast<double>(Partition{bytes, ranks}.largest());
    double total = 0;
    for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
        std::uint32_t slots = 0;
        for (const Blocks& some : slots_with(distance, ranks)) slots += some.count;
        total += message.alpha_s + slots * slot_bytes * message.beta_s_per_B;
    }
    return total;
}

}  // namespace syncline
