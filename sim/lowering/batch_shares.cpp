#include "sim/lowering/batch_shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace syncline {

std::vector<std::int64_t> shares_by_speed(const std::vector<double>& speeds, std::int64_t samples) {
    const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    std::vector<std::int64_t> shares;
    std::vector<double> remainders;
    std::int64_t left = samples;
    for (const double speed : speeds) {
        const double quota = static_cast<double>(samples) * speed / all;
        // A quota that is a whole number, but for rounding, has no remainder.
        const double nearest = std::round(quota);
        const double whole = std::abs(quota - nearest) <= 1e-9 * quota ? nearest : std::floor(quota);
        shares.push_back(static_cast<std::int64_t>(whole));
        remainders.push_back(std::max(0.0, quota - whole));
        left -= shares.back();
    }
    std::vector<std::size_t> order(speeds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (std::int64_t i = 0; i < left; ++i) ++shares[order[static_cast<std::size_t>(i)]];
    for (std::int64_t& share : shares) {
        if (share > 0) continue;
        --*std::ranges::max_element(shares);
        share = 1;
    }
    return shares;
}

}  // namespace syncline
