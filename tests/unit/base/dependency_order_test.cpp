#include "sim/base/dependency_order.hpp"

#include "tests/catch.hpp"

using namespace syncline;
using Order = std::vector<std::uint32_t>;

TEST_CASE("numbers come after those that they wait for, and else in their order") {
    CHECK(dependency_order(0, {}).empty());
    CHECK(dependency_order(3, {}) == Order{0, 1, 2});
    // 0 waits for 3 and 1, 1 for 2: 2 is the first that could be next, 3 comes when 1 is the lower one.
    CHECK(dependency_order(4, {{0, 3}, {0, 1}, {1, 2}}) == Order{2, 1, 3, 0});
    CHECK(dependency_order(2, {{0, 1}, {0, 1}}) == Order{1, 0});  // said twice
}

TEST_CASE("numbers on a cycle, and those that wait for them, have no place in the order") {
    CHECK(dependency_order(4, {{1, 2}, {2, 1}, {3, 2}}) == Order{0});
    CHECK(dependency_order(1, {{0, 0}}).empty());
}
