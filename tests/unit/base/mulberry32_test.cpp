#include "sim/base/mulberry32.hpp"

#include <array>
#include <vector>

#include "tests/catch.hpp"

using namespace syncline;

TEST_CASE("mulberry32: the numbers are those of its JavaScript") {
    // function m(s) { return () => { let t = s = s + 0x6D2B79F5 | 0; t = Math.imul(t ^ t >>> 15, t | 1);
    //   t ^= t + Math.imul(t ^ t >>> 7, t | 61); return (t ^ t >>> 14) >>> 0 } }, run by Node.js 18.
    struct Vector {
        std::uint32_t state;
        std::array<std::uint32_t, 4> numbers;
    };
    const std::vector<Vector> vectors{{0, {1144304738, 1416247, 958946056, 627933444}},
                                      {1, {2693262067, 11749833, 2265367787, 4213581821}},
                                      {296, {2034771524, 3429275317, 2847472532, 2215215849}},
                                      {4294967295, {3850105811, 813802916, 3073704848, 4054706436}}};
    for (const Vector& vector : vectors) {
        Mulberry32 generator(vector.state);
        for (const std::uint32_t number : vector.numbers) CHECK(generator.next() == number);
    }
}

TEST_CASE("mulberry32: choices are the number's share of 2^32") {
    Mulberry32 generator(0);
    CHECK(generator.below(4) == 1);   // 1144304738/2^32 = 0.266
    CHECK(generator.below(4) == 0);   // 0.0003
    CHECK(generator.below(10) == 2);  // 0.223
    CHECK(generator.below(1) == 0);
}
