#include "sim/process/turn.hpp"

#include <list>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"

using namespace syncline;

TEST_CASE("turns: work runs only between resume and its next pause", "[memory]") {
    std::string order;
    Turn* own = nullptr;
    Turn one([&] {
        own = Turn::current();
        order += "1";
        Turn::current()->pause();
        order += "2";
    });
    order += "a";
    one.resume();
    order += "b";
    CHECK_FALSE(one.ended());
    one.resume();
    order += "c";
    CHECK(one.ended());
    CHECK_FALSE(one.error());
    CHECK(order == "a1b2c");
    CHECK(own == &one);
    CHECK(Turn::current() == nullptr);
}

TEST_CASE("turns: many of them share data without locks", "[memory]") {
    std::list<Turn> turns;
    std::size_t sum = 0, ended = 0;
    for (std::size_t i = 0; i < 50; ++i)
        turns.emplace_back([&, i] {
            for (std::size_t j = 0; j < i; ++j) {
                ++sum;
                Turn::current()->pause();
            }
        });
    while (ended < turns.size())
        for (Turn& turn : turns) {
            if (turn.ended()) continue;
            turn.resume();
            ended += turn.ended();
        }
    CHECK(sum == 50 * 49 / 2);
}

TEST_CASE("turns: an exception of the work is kept", "[memory]") {
    Turn one([] { throw std::runtime_error("because"); });
    one.resume();
    CHECK(one.ended());
    REQUIRE(one.error());
    CHECK_THROWS_WITH(std::rethrow_exception(one.error()), "because");
}

TEST_CASE("turns: work that is paused when its turn is destroyed is ended, and work that has not begun never begins",
          "[memory]") {
    bool unwound = false, begun = false, went_on = false;
    {
        struct AtEnd {
            bool& done;
            ~AtEnd() { done = true; }
        };
        Turn paused([&] {
            const AtEnd end{unwound};
            Turn::current()->pause();
            went_on = true;
        });
        const Turn waiting([&] { begun = true; });
        paused.resume();
        CHECK_FALSE(unwound);
    }
    CHECK(unwound);
    CHECK_FALSE(went_on);
    CHECK_FALSE(begun);
}
