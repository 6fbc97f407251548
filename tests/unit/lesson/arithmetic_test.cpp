#include "sim/lesson/arithmetic.hpp"

#include "tests/catch.hpp"

using namespace syncline::lesson;

TEST_CASE("arithmetic: operators, parentheses, functions and names") {
    const Values values{{"N", 8}, {"a2", 0.5}};
    CHECK(value_of("2·(N-1)/N·100", values) == Approx(175));
    CHECK(value_of("1 - 2 - 3") == -4);
    CHECK(value_of("8/4/2") == 1);
    CHECK(value_of("-a2*-(3 + 1)", values) == 2);
    CHECK(value_of("max(1, N/4, a2) + min(3, 2)", values) == 4);
    CHECK(value_of("lg(2·N)", values) == 4);
    CHECK(value_of(" 1.5e3 ") == 1500);
}

TEST_CASE("arithmetic: anything else is refused") {
    for (const char* const text : {"", "1 +", "(1", "1)", "1 2", "·", "max()", "max(1", "2N", "N.x", "1;2", "."})
        CHECK_THROWS_AS(value_of(text, {{"N", 1}}), ArithmeticError);
    CHECK_THROWS_WITH(value_of("S/2"), "there is no number 'S'");
    CHECK_THROWS_WITH(value_of("sin(1)"), "there is no function 'sin' of 1 numbers");
    CHECK_THROWS_WITH(value_of("lg(1, 2)"), "there is no function 'lg' of 2 numbers");
    CHECK_THROWS_WITH(value_of("1/0"), "'1/0' is not finite");
    CHECK_THROWS_AS(value_of(std::string(100'000, '(')), ArithmeticError);
    CHECK_THROWS_AS(value_of(std::string(100'000, '-')), ArithmeticError);
}
