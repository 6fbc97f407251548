#include "sim/platform/simgrid_trace.hpp"

#include <fmt/format.h>

#include <string>

#include "tests/catch.hpp"

using namespace syncline;

namespace {

std::string error_of(const std::string& text, TraceOf of = TraceOf::bandwidth) {
    try {
        parse_simgrid_trace(text, of);
    } catch (const XmlError& error) {
        return fmt::format("{}:{}: {}", error.place.line, error.place.column, error.what());
    }
    return "";
}

}  // namespace

TEST_CASE("SimGrid's traces: points, comments and repetition", "[simgrid-trace][memory]") {
    const SimGridTrace trace =
        parse_simgrid_trace("# a\n% b\n\n  0.5\t1e9 \r\n2 5e8\nLOOPAFTER 1.5\n", TraceOf::bandwidth);
    CHECK(trace == SimGridTrace{{{0.5, 1e9}, {2, 5e8}}, 1.5});
    CHECK(parse_simgrid_trace("0 1\n2 0", TraceOf::link_state) == SimGridTrace{{{0, 1}, {2, 0}}, {}});
    // The period is that of the points' beginning; the pause is what is left of it.
    CHECK(parse_simgrid_trace("PERIODICITY 5\n1 0\n2 1", TraceOf::latency) == SimGridTrace{{{1, 0}, {2, 1}}, 3});
    CHECK(parse_simgrid_trace("1 0\n2 1\nPERIODICITY 2", TraceOf::latency).pause_s == 0);
    CHECK(parse_simgrid_trace(text_of(trace), TraceOf::bandwidth) == trace);
}

TEST_CASE("SimGrid's traces: what would never end is refused", "[simgrid-trace]") {
    CHECK(error_of("0 1e9\nLOOPAFTER 0\n") == "2:1: the trace repeats itself every 0 s");
    CHECK(error_of("0 1e9\nPERIODICITY 1e-12\n") == "2:1: the trace repeats itself every 1e-12 s");
    CHECK(error_of("0 1e9\nPERIODICITY 0\n") == "2:1: the trace repeats itself every 0 s");
    CHECK(error_of("0 1e9\nPERIODICITY 1e-6\n") == "");
    CHECK(error_of("0 1e9\n1e-6 1e8\nLOOPAFTER 0\n") == "");
    std::string points;
    for (int i = 0; i <= 1'000'000; ++i) points += fmt::format("{} 1\n", i);
    CHECK(error_of(points) == "1000001:9: more than 1000000 points");
}

TEST_CASE("SimGrid's traces: wrong lines are refused at their words", "[simgrid-trace][memory]") {
    CHECK(error_of("") == "1:1: the trace has no points");
    CHECK(error_of("LOOPAFTER 1\n") == "1:1: the trace has no points");
    CHECK(error_of("STOCHASTIC\n") == "1:1: random traces are not allowed");
    CHECK(error_of("0 1\nx 1\n") == "2:1: 'x' is no number");
    CHECK(error_of("0\n") == "1:1: the value is missing");
    CHECK(error_of("0 nan\n") == "1:3: 'nan' is no number");
    CHECK(error_of("0 1e999\n") == "1:3: '1e999' is no number");
    CHECK(error_of("0 1 2\n") == "1:5: unexpected '2'");
    CHECK(error_of("-1 1\n") == "1:1: a time of -1 s is out of range");
    CHECK(error_of("1e10 1\n") == "1:1: a time of 1e+10 s is out of range");
    CHECK(error_of("0 1\n0 1\n") == "2:1: 0 s is not after 0 s");
    CHECK(error_of("LOOPAFTER -1\n") == "1:11: a time of -1 s is out of range");
    CHECK(error_of("LOOPAFTER 1\nPERIODICITY 2\n") == "2:13: the trace already repeats itself");
    CHECK(error_of("0 1\n5 1\nPERIODICITY 2\n") == "3:1: a period of 2 s ends before the last point, at 5 s");
}

TEST_CASE("SimGrid's traces: values have the limits of our own links", "[simgrid-trace][memory]") {
    CHECK(error_of("0 0\n") == "1:3: 0 is out of range");
    CHECK(error_of("0 1e19\n") == "1:3: 1e+19 is out of range");
    CHECK(error_of("0 0\n", TraceOf::latency) == "");
    CHECK(error_of("0 -1\n", TraceOf::latency) == "1:3: -1 is out of range");
    CHECK(error_of("0 4000\n", TraceOf::latency) == "1:3: 4000 is out of range");
    // A state above 0 is on, and any other is off, as SimGrid takes them.
    CHECK(parse_simgrid_trace("0 -1.0\n1 0.5\n", TraceOf::host_state) == SimGridTrace{{{0, 0}, {1, 1}}, {}});
    CHECK(error_of("0 0\n", TraceOf::speed) == "1:3: 0 is out of range");
}
