#include "sim/output/reasons.hpp"

#include "tests/catch.hpp"

// Sentences that differ only in numbers are one reason.

using syncline::Reasons;

TEST_CASE("reasons that differ in numbers, units and grids are counted as one, the most frequent first", "[memory]") {
    Reasons reasons;
    reasons.add("the file is wrong", "a");
    reasons.add("it needs 20.1 GiB of memory, but 'k80' has 12 GiB", "b");
    reasons.add("it needs 900 MiB of memory, but 'k80' has 12 GiB", "c");
    reasons.add("it needs 1,024 B of memory, but 'k80' has 12 GiB", "d");
    reasons.add("it needs 3 s of memory, but 'k80' has 12 GiB", "e");
    reasons.add("base 8x2: too few", "f");
    reasons.add("base 16x1: too few", "g");
    const auto all = reasons.all();
    REQUIRE(all.size() == 3);
    CHECK(all[0].example == "it needs 20.1 GiB of memory, but 'k80' has 12 GiB");
    CHECK(all[0].count == 4);
    CHECK(all[0].varies);
    CHECK(all[0].of == std::vector<std::string>{"b", "c", "d"});
    CHECK(all[1].example == "base 8x2: too few");
    CHECK(all[1].count == 2);
    CHECK_FALSE(all[2].varies);
    CHECK(reasons.total() == 7);
}

TEST_CASE("words after a number are not taken for its unit", "[memory]") {
    Reasons reasons;
    reasons.add("3 samples");
    reasons.add("4 ranks");
    reasons.add("5 Best");
    CHECK(reasons.all().size() == 3);
    reasons.add("7 samples", "", 5);
    CHECK(reasons.all()[0].count == 6);
}

TEST_CASE("errors with carets at different columns are one reason", "[memory]") {
    Reasons reasons;
    reasons.add("a.yaml:2:9: error: 8 ranks do not fit\n    ranks: [8]\n            ^\n");
    reasons.add("a.yaml:2:12: error: 16 ranks do not fit\n    ranks: [16]\n               ^\n");
    CHECK(reasons.all().size() == 1);
}
