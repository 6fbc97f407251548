#include "sim/base/units.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sim/base/percent.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

constexpr std::array dimensions = dimensions_with_units;

double read(const std::string& text, Dimension dimension) {
    const Quantity quantity = parse_quantity(text, dimension);
    INFO(text << ": " << quantity.error);
    REQUIRE(quantity.value);
    CHECK(quantity.error.empty());
    return *quantity.value;
}

Quantity refused(const std::string& text, Dimension dimension) {
    const Quantity quantity = parse_quantity(text, dimension);
    INFO(text);
    CHECK_FALSE(quantity.value);
    CHECK_FALSE(quantity.error.empty());
    CHECK_FALSE(quantity.hint.empty());
    return quantity;
}

}  // namespace

TEST_CASE("a quantity is a number times a unit", "[memory]") {
    struct Example {
        const char* text;
        Dimension dimension;
        double value;
    };
    for (const auto& [text, dimension, value] : std::vector<Example>{
             {"64 MiB", Dimension::bytes, 64 * 1048576.0},
             {"4B", Dimension::bytes, 4},
             {"1 KB", Dimension::bytes, 1000},
             {"8 kbit", Dimension::bytes, 1000},
             {"8 b", Dimension::bytes, 1},
             {"8 Kibit", Dimension::bytes, 1024},
             {"1e3kB", Dimension::bytes, 1e6},
             {"1EB", Dimension::bytes, 1e18},
             {"1E2B", Dimension::bytes, 100},
             {"1.5 us", Dimension::seconds, 1.5e-6},
             {"1.5 \u00b5s", Dimension::seconds, 1.5e-6},
             {"1.5 \u03bcs", Dimension::seconds, 1.5e-6},
             {"  +2   min  ", Dimension::seconds, 120},
             {".5h", Dimension::seconds, 1800},
             {"-3. ps", Dimension::seconds, -3e-12},
             {"700 W", Dimension::power, 700},
             {"10.2kW", Dimension::power, 10200},
             {"1287 MWh", Dimension::energy, 4.6332e12},
             {"2 kJ", Dimension::energy, 2000},
             {"25 Gbps", Dimension::bandwidth, 3.125e9},
             {"25 Gb/s", Dimension::bandwidth, 3.125e9},
             {"25 Gbit/s", Dimension::bandwidth, 3.125e9},
             {"3.1 GB/s", Dimension::bandwidth, 3.1e9},
             {"3.1 GBps", Dimension::bandwidth, 3.1e9},
             {"3 GiB/s", Dimension::bandwidth, 3 * 0x1p30},
             {"9.3 Tflops", Dimension::flops, 9.3e12},
             {"9.3 TFLOPS", Dimension::flops, 9.3e12},
             {"9.3 TFLOP/s", Dimension::flops, 9.3e12},
             {"2 Kflop/s", Dimension::flops, 2000},
             {"7 flops", Dimension::flops, 7},
             {"219 images/s", Dimension::rate, 219},
             {"219 img/s", Dimension::rate, 219},
             {"219 samples/s", Dimension::rate, 219},
             {"219/s", Dimension::rate, 219},
             {"219 1/s", Dimension::rate, 219},
         })
        CHECK(read(text, dimension) == Approx(value));
}

TEST_CASE("every prefix has its power, in bytes and in bits", "[memory]") {
    const std::string si = "kMGTPE", binary = "KMGTP";
    for (std::size_t i = 0; i < si.size(); ++i) {
        const double power = std::pow(1000, i + 1);
        CHECK(read(std::string("1 ") + si[i] + "B", Dimension::bytes) == Approx(power));
        CHECK(read(std::string("8 ") + si[i] + "b", Dimension::bytes) == Approx(power));
        CHECK(read(std::string("8 ") + si[i] + "bps", Dimension::bandwidth) == Approx(power));
        CHECK(read(std::string("1 ") + si[i] + "flops", Dimension::flops) == Approx(power));
    }
    for (std::size_t i = 0; i < binary.size(); ++i) {
        const double power = std::pow(1024, i + 1);
        CHECK(read(std::string("1 ") + binary[i] + "iB", Dimension::bytes) == Approx(power));
        CHECK(read(std::string("8 ") + binary[i] + "ibit/s", Dimension::bandwidth) == Approx(power));
    }
}

TEST_CASE("a number needs a unit", "[memory]") {
    const Quantity quantity = refused("25", Dimension::bandwidth);
    CHECK(quantity.error == "25 has no unit");
    CHECK(quantity.hint == "write for example 25 Gbps");
    for (const Dimension dimension : dimensions) CHECK(refused("0", dimension).error == "0 has no unit");
}

TEST_CASE("a count is a number, or a number of thousands, millions, billions or trillions", "[memory]") {
    CHECK(read("300 B", Dimension::count) == 300e9);
    CHECK(read("300G", Dimension::count) == 300e9);
    CHECK(read("1.4 T", Dimension::count) == 1.4e12);
    CHECK(read("500 M", Dimension::count) == 500e6);
    CHECK(read("20k", Dimension::count) == 20e3);
    CHECK(read("300000000000", Dimension::count) == 300e9);
    CHECK(read("3e11", Dimension::count) == 300e9);
    CHECK(refused("300 b", Dimension::count).hint == "did you mean 300 B?");
    CHECK(refused("300 GB", Dimension::count).error == "300 GB is a size, not a count");
    CHECK(refused("300 billion", Dimension::count).error == "unknown unit 'billion'");
    CHECK(refused("nan", Dimension::count).error == "'nan' does not begin with a number");
    CHECK(refused("1e999", Dimension::count).error == "1e999 is out of range");
    CHECK(format_quantity(1.4e12, Dimension::count) == "1.4 T");
    CHECK(format_quantity(12, Dimension::count) == "12");
    CHECK(refused("64 B", Dimension::bandwidth).error == "64 B is a size, not a bandwidth");
}

TEST_CASE("a unit of another dimension is called by its name", "[memory]") {
    const Quantity quantity = refused("64 MiB", Dimension::bandwidth);
    CHECK(quantity.error == "64 MiB is a size, not a bandwidth");
    CHECK(quantity.hint == "did you mean 64 MiB/s?");
    CHECK(refused("25 Gbps", Dimension::bytes).error == "25 Gbps is a bandwidth, not a size");
    CHECK(refused("5 ms", Dimension::flops).error == "5 ms is a time, not a computing speed");
}

TEST_CASE("a misspelt unit is corrected in the hint", "[memory]") {
    CHECK(refused("25 gbps", Dimension::bandwidth).hint == "did you mean 25 Gbps (bits) or 25 GBps (bytes)?");
    CHECK(refused("3 mb", Dimension::bytes).hint == "did you mean 3 Mb (bits) or 3 MB (bytes)?");
    CHECK(refused("3 mib", Dimension::bytes).hint == "did you mean 3 Mib (bits) or 3 MiB (bytes)?");
    CHECK(refused("3 MS", Dimension::seconds).hint == "did you mean 3 ms?");
    CHECK(refused("3 tflops", Dimension::flops).hint == "did you mean 3 Tflops?");
    CHECK(refused("3 image/s", Dimension::rate).hint == "did you mean 3 images/s?");
    CHECK(refused("3 parsec", Dimension::seconds).error == "unknown unit 'parsec'");
    CHECK(refused("1,5 s", Dimension::seconds).hint == "use a decimal point");
}

TEST_CASE("values that are not finite numbers are rejected in every dimension", "[memory]") {
    for (const Dimension dimension : dimensions)
        for (const char* text :
             {"", " ", "s", "nan s", "inf B", "-inf Gbps", "infinity", "e3 B", "+-5 s", "--5 s", ". B", "1e999 B",
              "1e-999 s", "-1e999 flops", "1 2 B", "0x10 B", "1_000 B", "one B", "5\tB x"})
            refused(text, dimension);
    CHECK(refused("1e308 PB", Dimension::bytes).error == "1e308 PB is out of range");
}

TEST_CASE("zero and negative quantities are read", "[memory]") {
    CHECK(read("0 s", Dimension::seconds) == 0);
    CHECK_FALSE(std::signbit(read("-0 s", Dimension::seconds)));
    CHECK(read("-2 Gbps", Dimension::bandwidth) == Approx(-2.5e8));
}

TEST_CASE("quantities are shown with four digits and a prefix", "[memory]") {
    CHECK(format_quantity(25'550'000, Dimension::bytes) == "25.55 MB");
    CHECK(format_quantity(3.125e9, Dimension::bandwidth) == "3.125 GB/s");
    CHECK(format_quantity(0.01696, Dimension::seconds) == "16.96 ms");
    CHECK(format_quantity(10.6e12, Dimension::flops) == "10.6 Tflops");
    CHECK(format_quantity(219, Dimension::rate) == "219 /s");
    CHECK(format_quantity(10200, Dimension::power) == "10.2 kW");
    CHECK(format_quantity(2.5e6, Dimension::energy) == "2500 kJ");
    CHECK(format_quantity(4.5e6, Dimension::energy) == "1.25 kWh");
    CHECK(format_quantity(433'196 * 3.6e6, Dimension::energy) == "433.2 MWh");
    CHECK(format_quantity(1, Dimension::bytes) == "1 B");
    CHECK(format_quantity(999.94, Dimension::bytes) == "999.9 B");
    CHECK(format_quantity(999.96, Dimension::bytes) == "1 kB");
    CHECK(format_quantity(3600, Dimension::seconds) == "3600 s");
    CHECK(format_quantity(86400, Dimension::seconds) == "86400 s");
    CHECK(format_quantity(0, Dimension::seconds) == "0 s");
    CHECK(format_quantity(-1e-6, Dimension::seconds) == "-1 us");
    CHECK(format_quantity(std::numeric_limits<double>::infinity(), Dimension::bandwidth) == "inf B/s");
}

TEST_CASE("formatted values can be read back to four digits", "[memory]") {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> exponent(-14, 21);
    for (int i = 0; i < 2000; ++i) {
        const double value = std::pow(10, exponent(random));
        for (const Dimension dimension : dimensions)
            CHECK(read(format_quantity(value, dimension), dimension) == Approx(value).epsilon(5.1e-4));
    }
}

TEST_CASE("shares are shown with one decimal, and only zero as zero", "[memory]") {
    CHECK(percent(0.1234) == "12.3 %");
    CHECK(percent(1) == "100.0 %");
    CHECK(percent(0.001) == "0.1 %");
    CHECK(percent(0.0009) == "< 0.1 %");
    CHECK(percent(1e-12) == "< 0.1 %");
    CHECK(percent(-1e-12) == "> -0.1 %");
    CHECK(percent(-0.25) == "-25.0 %");
    CHECK(percent(0) == "0 %");
}

TEST_CASE("units: estimates have two significant digits, and long times the units of people", "[memory]") {
    CHECK(format_roughly(25'550'000, Dimension::bytes) == "26 MB");
    CHECK(format_roughly(0.6964, Dimension::seconds) == "700 ms");
    CHECK(format_roughly(0, Dimension::seconds) == "0 s");
    CHECK(format_roughly(99.6, Dimension::seconds) == "100 s");
    CHECK(format_roughly(6'003, Dimension::seconds) == "100 min");
    CHECK(format_roughly(330, Dimension::seconds) == "5.5 min");
    CHECK(format_roughly(43'002, Dimension::seconds) == "12 h");
    CHECK(format_roughly(1'620'051, Dimension::seconds) == "19 days");
}
