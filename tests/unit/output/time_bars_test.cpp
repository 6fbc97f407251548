#include "sim/output/time_bars.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

Result result(const char* variant, double compute_s, double exposed_s, double waiting_s) {
    Result r;
    r.variant = variant;
    r.time.compute_s = compute_s;
    r.time.exposed_communication_s = exposed_s;
    r.time.waiting_s = waiting_s;
    r.time.iteration_s = compute_s + exposed_s + waiting_s;
    return r;
}

}  // namespace

TEST_CASE("time bars: each part has its share of a line, and the longest iteration fills it") {
    // 27 characters: 1 to 4 of the name, 2 spaces, 16 of the bar, 2 spaces, 3 of the time.
    // long: 8 s in 16 characters, 2 a second: 5 s compute, 2 s exposed, 1 s waiting. fast: 4 s, of which 3 s compute.
    const Result slow = result("long", 5, 2, 1), fast = result("f", 3, 0, 1);
    const text::TableLayout layout{27, {}, true};
    CHECK(text::time_bars({&slow, &fast}, layout) ==
          "long  ██████████▓▓▓▓▒▒  8 s\n"
          "f     ██████▒▒          4 s\n"
          "█ compute  ▓ exposed\n"
          "communication  ▒ waiting\n");
    // Ends are rounded, not lengths: 1/3 each of 10 characters ends at 3, 7 and 10.
    const Result thirds = result("x", 1, 1, 1);
    CHECK(text::time_bars({&thirds}, {18, {}, true}).starts_with("x  ███▓▓▓▓▒▒▒  3 s\n"));
}

TEST_CASE("time bars: there are none without a terminal for them, without room, and without time") {
    const Result some = result("some", 1, 1, 1), none = result("none", 0, 0, 0);
    CHECK(text::time_bars({&some}, {80, {}, false}).empty());
    CHECK(text::time_bars({}, {80, {}, true}).empty());
    CHECK(text::time_bars({&none}, {80, {}, true}).empty());
    CHECK(text::time_bars({&some}, {20, {}, true}).empty());  // 4 + 2 + 9 + 2 + 3
    CHECK_FALSE(text::time_bars({&some}, {21, {}, true}).empty());
}
