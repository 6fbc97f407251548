#include <algorithm>

#include "sim/collective/factories.hpp"

/// Bruck's algorithms: ⌈lg N⌉ steps for any N, with a rank 2^k places away in step k.
///
/// Allgather: a rank sends the blocks that it has, its own and those that follow, modulo N, to the rank 2^k before it;
/// in the last step only as many as are missing. The time is ⌈lg N⌉α + (N-1)/N·S·β; if N does not divide S, each step
/// counts the largest such range of blocks. That is exact for any S: with s = S mod N, the rank v for which s·v mod N
/// is largest sends the largest range in every step, because s·v mod N + gcd(s, N) = N. If α travels
/// there is no closed form for such S: rank v waits for messages that come from elsewhere, and so only for their α.
///
/// All-to-all: data for the rank d places on waits in slot d, for all d. In step k a rank sends all slots whose number
/// has bit k set to the rank 2^k places on, in one message, and puts the received slots in their place; in the end slot
/// d holds the data from d places before. Slots are padded to ⌈S/N⌉, because MPI's blocks all have the same size:
/// N·⌈S/N⌉ bytes in the buffer. With nₖ slots that have bit k set, the time is Σₖ (α + nₖ·⌈S/N⌉·β), which is lg N(α +
/// S/2·β) with N = 2^k: fewer messages than direct, and lg N/2 times the bytes.
///
/// Left out: the rotations of the buffer before and after, which are copies inside a rank. Source: J. Bruck, C.-T. Ho,
/// S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all communications in multiport message-passing
/// systems", IEEE Trans. Parallel Distrib. Syst. 8 (1997) 1143-1156.
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

class BruckAllgather : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, ranks}, {}};
        for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
            const std::uint32_t count = std::min(distance, ranks - distance);
            const std::uint32_t to = (rank + ranks - distance) % ranks, from = (rank + distance) % ranks;
            program.steps.push_back({{{to, rank, count}}, {{from, from, count}}});
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const Partition partition{bytes, ranks};
        if (message.travels && !partition.even()) return {};
        double total = 0;
        for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
            const auto size = static_cast<double>(partition.largest(std::min(distance, ranks - distance)));
            total += message.alpha_s + size * message.beta_s_per_B;
        }
        return total;
    }

    std::string formula(bool) const override { return "⌈lg N⌉α + (N-1)/N·Sβ"; }
};

class BruckAllToAll : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{Partition{bytes, ranks}.largest() * ranks, ranks}, {}};
        for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
            const std::vector<Blocks> slots = slots_with(distance, ranks);
            const std::uint32_t to = (rank + distance) % ranks, from = (rank + ranks - distance) % ranks;
            program.steps.push_back({{message_to(to, slots)}, {message_to(from, slots)}});
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const auto slot_bytes = static_cast<double>(Partition{bytes, ranks}.largest());
        double total = 0;
        for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
            std::uint32_t slots = 0;
            for (const Blocks& some : slots_with(distance, ranks)) slots += some.count;
            total += message.alpha_s + slots * slot_bytes * message.beta_s_per_B;
        }
        return total;
    }

    std::string formula(bool) const override { return "Σₖ α + nₖ⌈S/N⌉β, nₖ = number of distances 1 … N-1 with bit k"; }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::bruck_allgather(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<BruckAllgather>();
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::bruck_all_to_all(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<BruckAllToAll>();
}

}  // namespace syncline
