#pragma once

#include <cstddef>
#include <vector>

namespace syncline::test {

/// Every combination of as many values as the axes have, from 0.
inline std::vector<std::vector<std::size_t>> factorial(const std::vector<std::size_t>& axes) {
    std::vector<std::vector<std::size_t>> points{{}};
    for (const std::size_t values : axes) {
        std::vector<std::vector<std::size_t>> more;
        for (const auto& point : points) {
            for (std::size_t v = 0; v < values; ++v) {
                more.push_back(point);
                more.back().push_back(v);
            }
        }
        points = more;
    }
    return points;
}

}  // namespace syncline::test
