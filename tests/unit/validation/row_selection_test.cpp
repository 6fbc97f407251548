#include "sim/validation/chosen_rows.hpp"

#include <cmath>
#include <numeric>

#include "tests/catch.hpp"

using syncline::validation::shares;
using Sizes = std::vector<std::size_t>;

TEST_CASE("selection: rows are divided in proportion, by the largest remainders", "[memory]") {
    // 10 of 71: quotas 9.01, 0.56 and 0.42.
    CHECK(shares({64, 4, 3}, 10) == Sizes{9, 1, 0});
    // 26 seats for 26000 voters (M. Balinski, H. Young, "Fair Representation"): the integral parts add up to 25.
    CHECK(shares({9061, 7179, 5259, 3319, 1182}, 26) == Sizes{9, 7, 5, 4, 1});
    CHECK(shares({1, 1, 1}, 2) == Sizes{1, 1, 0});  // equal remainders: in order
    CHECK(shares({0, 0}, 0) == Sizes{0, 0});
    CHECK(shares({}, 0).empty());
}

TEST_CASE("selection: no share is a row or more from its quota, and none exceeds what there is", "[memory]") {
    const Sizes sizes{64, 5, 5, 3, 44, 0, 77, 1};
    const std::size_t sum = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    for (std::size_t total = 0; total <= sum; ++total) {
        const Sizes parts = shares(sizes, total);
        CHECK(std::accumulate(parts.begin(), parts.end(), std::size_t{0}) == total);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const double quota = static_cast<double>(sizes[i] * total) / static_cast<double>(sum);
            CHECK(std::abs(static_cast<double>(parts[i]) - quota) < 1);
            CHECK(parts[i] <= sizes[i]);
        }
    }
}
