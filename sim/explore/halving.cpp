#include "sim/explore/halving.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace syncline::batch {

std::vector<std::size_t> rung_sizes(std::size_t points, std::size_t rungs, std::size_t budget) {
    std::vector<std::size_t> sizes(rungs, 0);
    std::size_t left = std::min(budget, points);
    for (std::size_t rung = 0; rung < rungs; ++rung) {
        // Of r remaining rungs, each with half the points of the previous one, the first has 2^(r-1) of 2^r - 1 parts.
        const std::size_t first = std::size_t{1} << (rungs - rung - 1), parts = 2 * first - 1;
        if (left < parts) continue;
        sizes[rung] = (left * first + parts - 1) / parts;
        left -= sizes[rung];
    }
    return sizes;
}

std::vector<std::size_t> successive_halving(std::vector<std::size_t> order, const std::vector<std::size_t>& sizes,
                                            const Ranking& ranking) {
    for (std::size_t rung = 0; rung < sizes.size(); ++rung) {
        if (sizes[rung] == 0) continue;
        order.resize(std::min(order.size(), sizes[rung]));
        order = ranking(rung, order);
    }
    return order;
}

std::vector<std::size_t> spread_draw(const std::vector<std::vector<std::size_t>>& values, std::size_t count,
                                     std::uint64_t seed) {
    // The standard fixes the numbers of this generator. Among equal points the one with the smallest number is drawn.
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> lot(values.size());
    for (std::uint64_t& one : lot) one = random();
    std::vector<std::size_t> left(values.size());
    std::iota(left.begin(), left.end(), 0);
    std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return lot[a] < lot[b]; });

    const std::size_t axes = values.empty() ? 0 : values.front().size();
    std::vector<std::vector<double>> drawn(axes);
    for (std::size_t axis = 0; axis < axes; ++axis)
        for (const auto& point : values) drawn[axis].resize(std::max(drawn[axis].size(), point[axis] + 1), 0);

    std::vector<std::size_t> order;
    while (order.size() < std::min(count, values.size())) {
        double least = std::numeric_limits<double>::infinity();
        std::size_t best = 0;
        for (std::size_t i = 0; i < left.size(); ++i) {
            // An axis with few values has each of them drawn more often, so counts are relative to an even share.
            double often = 0;
            for (std::size_t axis = 0; axis < axes; ++axis)
                often += drawn[axis][values[left[i]][axis]] * static_cast<double>(drawn[axis].size());
            if (often >= least) continue;
            least = often;
            best = i;
        }
        for (std::size_t axis = 0; axis < axes; ++axis) drawn[axis][values[left[best]][axis]] += 1;
        order.push_back(left[best]);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    }
    return order;
}

}  // namespace syncline::batch
