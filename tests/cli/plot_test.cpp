#include <cstdlib>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A finished batch of four sizes.
struct PlotBench : StudyBench {
    PlotBench() : StudyBench(4) { REQUIRE(run_program(batch()).status == 0); }

    Outcome plot(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"plot", "out"});
        return run_in(*this, std::move(arguments));
    }
};

}  // namespace

TEST_CASE("plot draws a batch's results as SVG, PNG and PDF, in the size that is wanted") {
    const PlotBench bench;
    const Outcome svg = bench.plot({"--x", "bytes", "--y", "completion_time_s"});
    CHECK(svg.status == 0);
    CHECK(svg.err.empty());
    CHECK_THAT(svg.out, StartsWith("<?xml") && ContainsSubstring("completion time (us)") && ContainsSubstring("bytes"));

    const Outcome file = bench.plot({"--x", "bytes", "--y", "completion_time_s", "--out", "pictures/a.svg"});
    CHECK(file.status == 0);
    CHECK(file.out.empty());
    CHECK(file.err == "wrote pictures/a.svg: 1 line of 4 points\n");
    CHECK(read_file(bench / "pictures/a.svg") == svg.out);
    CHECK_THAT(bench
                   .plot({"--x", "bytes", "--y", "completion_time_s", "--series", "bytes, operation", "--xlabel",
                          "message", "--ylabel", "time", "--out", "b.svg"})
                   .err,
               ContainsSubstring("wrote b.svg: 4 lines of 4 points"));
    CHECK_THAT(read_file(bench / "b.svg"), ContainsSubstring("bytes, operation") && ContainsSubstring(">message<") &&
                                               ContainsSubstring("time (us)"));

    CHECK(bench.plot({"--x", "bytes", "--y", "completion_time_s", "--log", "xy", "--out", "a.png"}).status == 0);
    CHECK_THAT(read_file(bench / "a.png"), StartsWith("\x89PNG"));

    // 8.5 cm are 321.26 px of 96 to the inch, and 4 in are 288 points.
    CHECK(bench.plot({"--x", "bytes", "--y", "completion_time_s", "--width", "8.5cm", "--out", "c.svg"}).status == 0);
    CHECK_THAT(read_file(bench / "c.svg"), ContainsSubstring("width=\"321\""));
    CHECK(bench
              .plot({"--x", "bytes", "--y", "completion_time_s", "--width", "4 in", "--height", "3 in", "--facet",
                     "operation", "--out", "a.pdf"})
              .status == 0);
    CHECK_THAT(read_file(bench / "a.pdf"), StartsWith("%PDF") && ContainsSubstring("[ 0 0 288 216 ]"));
}

TEST_CASE("plot reports errors at their place", "[memory]") {
    const PlotBench bench;
    const Outcome unknown = bench.plot({"--x", "bytes", "--y", "completion_tme_s"});
    CHECK(unknown.status == 3);
    CHECK_THAT(unknown.err, StartsWith("--y:1:") && ContainsSubstring("completion_tme_s"));

    const Outcome series = bench.plot({"--x", "bytes", "--y", "completion_time_s", "--series", "operation,algoritm"});
    CHECK(series.status == 3);
    CHECK_THAT(series.err, StartsWith("--series:1:") && ContainsSubstring("algoritm"));

    const Outcome condition = bench.plot({"--x", "bytes", "--y", "completion_time_s", "--where", "bytes >"});
    CHECK(condition.status == 3);
    CHECK_THAT(condition.err, StartsWith("--where:1:"));

    const Outcome none = bench.plot({"--x", "bytes", "--y", "completion_time_s", "--where", "bytes > '1 GB'"});
    CHECK(none.status == 1);
    CHECK_THAT(none.err, ContainsSubstring("nothing to draw"));

    const Outcome text = bench.plot({"--x", "status", "--y", "completion_time_s", "--log", "x"});
    CHECK(text.status == 3);
    CHECK_THAT(text.err, StartsWith("--log:1:1: error: 'status'"));

    const Outcome facet = bench.plot({"--x", "bytes", "--y", "completion_time_s", "--facet", "algoritm"});
    CHECK(facet.status == 3);
    CHECK_THAT(facet.err, StartsWith("--facet:1:1:"));

    CHECK(bench.plot({"--x", "bytes", "--y", "completion_time_s", "--out", "a.jpg"}).status == 2);
    for (const char* width : {"8.5", "8.5 furlongs", "1 mm", "-3 in", "inf cm", "wide"}) {
        CAPTURE(width);
        const Outcome outcome = bench.plot({"--x", "bytes", "--y", "completion_time_s", "--width", width});
        CHECK(outcome.status == 2);
        CHECK_THAT(outcome.err, ContainsSubstring("8.5cm, 85mm, 3.35in, 241pt, 800px"));
    }
    CHECK(bench.plot({"--x", "bytes", "--y", "completion_time_s", "--log", "z"}).status == 2);
    CHECK(bench.plot({"--x", "bytes"}).status == 2);
    CHECK(run_in(bench, {"plot", "nowhere", "--x", "bytes", "--y", "completion_time_s"}).status == 4);
}

TEST_CASE("without gnuplot, plot says which package to install", "[memory]") {
    const PlotBench bench;
    const std::string path = std::getenv("PATH");
    setenv("PATH", bench.path().c_str(), 1);
    const Outcome outcome = bench.plot({"--x", "bytes", "--y", "completion_time_s", "--out", "a.svg"});
    setenv("PATH", path.c_str(), 1);
    CHECK(outcome.status == 4);
    CHECK_THAT(outcome.err, ContainsSubstring("install gnuplot-nox"));
    CHECK_FALSE(fs::exists(bench / "a.svg"));
}
