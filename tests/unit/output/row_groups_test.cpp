#include "sim/output/row_groups.hpp"

#include "tests/catch.hpp"

using namespace syncline::text;

namespace {

struct Item {
    std::string name;
    double seconds = 0;
};

std::vector<Group<Item>> by_time(const std::vector<Item>& items) {
    return grouped(
        items, &Item::name,
        [](const Group<Item>& group, const Item& other) {
            return same_time(group.first.seconds / static_cast<double>(group.count), other.seconds);
        },
        [](Group<Item>& group, const Item& other) { group.first.seconds += other.seconds; });
}

}  // namespace

TEST_CASE("rows with names that differ in numbers and the same time are one", "[memory]") {
    // 2 s and 2.01 s are equal to a percent, 3 s is not, and 'head' has another name.
    const auto groups = by_time({{"layer1", 2}, {"head", 2}, {"layer2", 2.01}, {"layer10", 3}, {"layer11", 2}});
    REQUIRE(groups.size() == 3);
    CHECK(name_of_group(groups[0], &Item::name) == "layer1 (x3)");
    CHECK(groups[0].first.seconds == Approx(6.01));
    CHECK(name_of_group(groups[1], &Item::name) == "head");
    CHECK(name_of_group(groups[2], &Item::name) == "layer10");
    CHECK(and_more(groups, 1) == "and 2 more\n");
    CHECK(and_more(groups, 3).empty());
}
