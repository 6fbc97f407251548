#include "sim/plan/noise.hpp"

#include <algorithm>
#include <utility>

namespace syncline {

namespace {

/// Returns the ranks in random order. Counters of draws by iteration have 32 bits, so this counter collides with none.
std::vector<std::int64_t> shuffled(std::uint64_t seed, std::uint32_t ranks) {
    constexpr std::uint64_t stragglers = ~std::uint64_t{0};
    std::vector<std::pair<std::uint64_t, std::int64_t>> drawn;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) drawn.emplace_back(random_bits(seed, rank, stragglers), rank);
    std::sort(drawn.begin(), drawn.end());
    std::vector<std::int64_t> order;
    for (const auto& [bits, rank] : drawn) order.push_back(rank);
    return order;
}

}  // namespace

std::vector<Pace> paces(const Noise& noise, std::uint32_t ranks) {
    std::vector<Pace> result;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        result.push_back({1, noise.jitter, noise.seed, rank, noise.node_jitter, 0});
    std::vector<std::int64_t> slow = noise.stragglers.ranks;
    if (slow.empty() && noise.stragglers.count > 0) {
        slow = shuffled(noise.seed, ranks);
        slow.resize(static_cast<std::size_t>(noise.stragglers.count));
    }
    for (const std::int64_t rank : slow) result[static_cast<std::size_t>(rank)].slowdown = noise.stragglers.slowdown;
    return result;
}

}  // namespace syncline
