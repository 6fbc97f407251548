#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/chrome_trace.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Tests `syncline run --trace`: timelines as files that other programs read.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

struct Traced : TinyFiles {
    Outcome run(std::vector<std::string> options) const {
        options.insert(options.begin(), {"run", "scenario.yaml", "--format", "json"});
        return run_in(*this, std::move(options));
    }

    std::map<std::string, json> results(std::vector<std::string> options) const {
        const Outcome outcome = run(std::move(options));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        std::map<std::string, json> found;
        const json report = json::parse(outcome.out);
        for (const json& result : report.at("results")) found[result.at("variant")] = result;
        return found;
    }

    ChromeFile chrome(const std::string& name) const { return check_chrome_trace(read_file(*this / name)); }
};

double seconds(std::int64_t ns) {
    return static_cast<double>(ns) * 1e-9;
}

/// Returns the integral of a counter in percent of `bandwidth_Bps`.
double bytes_of(const std::vector<std::pair<std::int64_t, double>>& points, double bandwidth_Bps) {
    double bytes = 0;
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
        bytes += points[i].second / 100 * bandwidth_Bps * seconds(points[i + 1].first - points[i].first);
    return bytes;
}

std::int64_t count_of(const ChromeFile& file, const std::string& category) {
    return std::ranges::count(file.slices, category, &ChromeSlice::category);
}

const fs::path pj_dump = "/usr/bin/pj_dump";

/// Returns the lines of pj_dump's output that begin with `kind`.
std::vector<std::string> lines_of(const std::string& dump, const std::string& kind) {
    std::vector<std::string> found;
    std::istringstream lines(dump);
    for (std::string line; std::getline(lines, line);)
        if (line.rfind(kind + ", ", 0) == 0) found.push_back(line);
    return found;
}

}  // namespace

TEST_CASE("a Chrome trace of every variant is well formed, and agrees with the results", "[memory]") {
    const Traced files;
    const auto plain = files.results({});
    const auto results = files.results({"--trace", "chrome"});
    CHECK(results == plain);
    for (const std::string variant : {"ring", "later", "servers"}) {
        CAPTURE(variant);
        const ChromeFile file = files.chrome("tiny-run-" + variant + ".trace.json");
        const json& result = results.at(variant);
        CHECK(file.about.at("title") == "tiny-run: " + variant);
        CHECK(file.flows.size() == result.at("messages").get<std::size_t>());
        const ChromeSlice iteration = file.of("window").at(0);
        CHECK(seconds(iteration.end_ns - iteration.start_ns) ==
              Approx(result.at("iteration_time_s").get<double>()).margin(2e-9));
        double compute_s = 0;
        for (const ChromeSlice& slice : file.of("rank 3 compute")) compute_s += seconds(slice.end_ns - slice.start_ns);
        CHECK(compute_s == Approx(result.at("compute_time_s").get<double>()).margin(1e-8));
        // Percent with two decimals, and a bandwidth of 1 GB/s.
        for (const json& link : result.at("links")) {
            CAPTURE(link.dump());
            CHECK(bytes_of(file.counters.at(link.at("link")), 1e9) ==
                  Approx(link.at("bytes").get<double>()).epsilon(1e-3));
        }
    }
    CHECK(files.chrome("tiny-run-servers.trace.json").of("server 1 reduction").size() == 1);
}

TEST_CASE("timelines limited by ranks, time or level leave out the rest and report it") {
    const Traced files;
    const auto traced = [&files](const std::vector<std::string>& limits, const std::string& left_out) {
        std::vector<std::string> options{"--set", "variants=~", "--trace", "chrome"};
        options.insert(options.end(), limits.begin(), limits.end());
        const Outcome outcome = files.run(options);
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        CHECK_THAT(outcome.err, ContainsSubstring("tiny-run.trace.json: ") && ContainsSubstring(left_out));
        ChromeFile file = files.chrome("tiny-run.trace.json");
        CHECK_THAT(file.about.at("shown").dump(), ContainsSubstring(left_out));
        return file;
    };
    // 2(N-1) messages from each of 4 ranks to the next, for each of two layers.
    const ChromeFile all = traced({}, "left out: other iterations");
    CHECK(all.flows.size() == 48);
    const ChromeFile two = traced({"--trace-ranks", "1-2"}, "left out: 2 of 4 ranks: ");
    CHECK(two.of("rank 0 compute").empty());
    CHECK(two.of("rank 3 exchange").empty());
    CHECK(two.of("rank 2 exchange").size() == all.of("rank 2 exchange").size());
    CHECK(two.flows.size() == 12);  // from 1 to 2
    const ChromeFile tasks = traced({"--trace-level", "tasks"}, "below the level 'tasks': ");
    CHECK(count_of(tasks, "act") == 0);
    CHECK(tasks.flows.empty());
    CHECK(count_of(tasks, "exchange") == count_of(all, "exchange"));
    // The last microsecond has no forward pass; times may be negative, before the iteration.
    const ChromeFile end = traced({"--trace-time", "2ms..10s"}, "outside the time range");
    CHECK(count_of(end, "forward") == 0);
    CHECK(end.slices.size() < all.slices.size());
    const ChromeFile before = traced({"--trace-time=-1ms..1us"}, "outside the time range");
    CHECK(before.flows.size() > 0);
}

TEST_CASE("a trace of some ranks may include the servers", "[memory]") {
    const Traced files;
    const std::vector<std::string> options{
        "--set",        "variants=~",      "--set",        "training.exchange=parameter-server", "--trace", "chrome",
        "--trace-file", "deep/in/it.json", "--trace-ranks"};
    const auto with = [&](const std::string& ranks) {
        std::vector<std::string> all = options;
        all.push_back(ranks);
        files.results(all);
        return files.chrome("deep/in/it.json");
    };
    const ChromeFile alone = with("3");
    CHECK(alone.of("server 0 push").empty());
    CHECK(alone.flows.empty());
    const ChromeFile served = with("3,servers");
    CHECK(served.of("server 0 push").size() > 0);
    CHECK(served.flows.size() == 4);  // a push and a pull of each of two layers
    CHECK(served.of("rank 0 compute").empty());
}

TEST_CASE("pj_dump reads Paje traces, and finds the events of Chrome traces in them", "[memory]") {
    if (!fs::exists(pj_dump)) {
        WARN("skipped: Debian's package pajeng, which has pj_dump, is not installed");
        return;
    }
    const Traced files;
    files.results({"--trace", "chrome"});
    files.results({"--trace", "paje"});
    for (const std::string variant : {"ring", "later", "servers"}) {
        CAPTURE(variant);
        const ChromeFile chrome = files.chrome("tiny-run-" + variant + ".trace.json");
        const std::string path = files / ("tiny-run-" + variant + ".paje");
        const Outcome dump =
            run_program({.arguments = {"--float-precision=9", "--user-defined", path}, .program = pj_dump});
        CAPTURE(dump.err);
        REQUIRE(dump.status == 0);
        REQUIRE(dump.err.empty());  // on which it reports what it cannot read, and continues
        std::vector<std::string> expected;
        for (const ChromeSlice& slice : chrome.slices)
            if (slice.category != "iteration")
                expected.push_back(fmt::format("State, {}, task, {:.9f}, {:.9f}, {:.9f}", slice.thread,
                                               seconds(slice.start_ns), seconds(slice.end_ns),
                                               seconds(slice.end_ns - slice.start_ns)));
        std::vector<std::string> states = lines_of(dump.out, "State");
        REQUIRE(states.size() == expected.size());
        // The fields after the times are the depth, the value, the name and the iteration.
        for (std::string& state : states) {
            std::size_t at = 0;
            for (int field = 0; field < 6; ++field) at = state.find(", ", at) + 2;
            state.erase(at - 2);
        }
        std::ranges::sort(states);
        std::ranges::sort(expected);
        CHECK(states == expected);
        CHECK(lines_of(dump.out, "Link").size() == chrome.flows.size());
        std::size_t points = 0;
        for (const auto& [link, curve] : chrome.counters) points += curve.size();
        CHECK(lines_of(dump.out, "Variable").size() == points);
    }
}

TEST_CASE("events of a Paje trace are in the order of time", "[memory]") {
    const Traced files;
    files.results({"--trace", "paje", "--trace-file", "all.paje"});
    std::istringstream lines(read_file(files / "all-servers.paje"));
    double last_s = 0;
    std::size_t events = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        int kind = 0;
        double at_s = 0;
        if (!(fields >> kind) || kind < 5) continue;
        REQUIRE((fields >> at_s));
        REQUIRE(at_s >= last_s);
        last_s = at_s;
        ++events;
    }
    CHECK(events > 100);
}

TEST_CASE("traces are identical in every run") {
    const Traced files;
    for (const std::string format : {"chrome", "paje"}) {
        files.results({"--set", "variants=~", "--trace", format, "--trace-file", "one"});
        files.results({"--set", "variants=~", "--trace", format, "--trace-file", "two"});
        CHECK(read_file(files / "one") == read_file(files / "two"));
    }
}

TEST_CASE("contradictory options of traces are errors, before anything is simulated", "[memory]") {
    const Traced files;
    const auto fails = [&files](const std::vector<std::string>& options, int status, const std::string& message) {
        const Outcome outcome = files.run(options);
        CHECK(outcome.status == status);
        CHECK_THAT(outcome.err, ContainsSubstring(message));
        CHECK(outcome.out.empty());
    };
    fails({"--trace", "otf"}, 2, "'otf' is not svg, chrome, paje");
    fails({"--trace-ranks", "1"}, 2, "--trace");
    fails({"--trace", "chrome", "--dry-run"}, 2, "--dry-run");
    fails({"--trace", "chrome", "--trace-ranks", "1,x"}, 2, "'x' in '1,x' is not a rank");
    fails({"--trace", "chrome", "--trace-ranks", "3-1"}, 2, "the range '3-1' in '3-1' is descending");
    fails({"--trace", "chrome", "--trace-ranks", ""}, 2, "is not a rank");
    fails({"--trace", "chrome", "--trace-time", "5ms"}, 2, "0ms..20ms");
    fails({"--trace", "chrome", "--trace-time", "5..6"}, 2, "has no unit");
    fails({"--trace", "chrome", "--trace-time", "6ms..5ms"}, 2, "ends before it begins");
    fails({"--trace", "chrome", "--trace-level", "bytes"}, 2, "'bytes' is not tasks, acts or messages");
    fails({"--trace", "chrome", "--trace-ranks", "0,4"}, 3, "no variant has rank 4\n  hint: the ranks are 0 to 3");
    fails({"--trace", "chrome", "--trace-ranks", "0,4"}, 3, "--trace-ranks:1:1: error: ");
    fails({"--set", "workload=~", "--set", "training=~", "--set", "variants=~", "--set",
           "collective={operation: allreduce, ranks: 4, bytes: 1 MB}", "--trace", "chrome"},
          3, "a collective operation has no timeline");
    CHECK(files.list() == std::vector<std::string>{"platform.yaml", "scenario.yaml", "workload.yaml"});
}

TEST_CASE("a trace that cannot be written is an error, and leaves no file", "[memory]") {
    const Traced files;
    files.write("here", "a file");
    const Outcome outcome = files.run({"--trace", "chrome", "--trace-file", "here/there.json"});
    CHECK(outcome.status == 4);
    CHECK_THAT(outcome.err, ContainsSubstring("error: cannot"));
    const Outcome full = files.run({"--set", "variants=~", "--trace", "chrome", "--trace-file", "/dev/full"});
    CHECK(full.status == 4);
    CHECK_THAT(full.err, ContainsSubstring("error: cannot write /dev/full"));
    CHECK(files.list() == std::vector<std::string>{"here", "platform.yaml", "scenario.yaml", "workload.yaml"});
}

TEST_CASE("a picture of the stages of every variant: --trace svg") {
    const Traced traced;
    const Outcome outcome = traced.run({"--trace", "svg", "--out", "out"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    for (const char* variant : {"ring", "servers", "later"}) {
        const std::string svg = read_file(traced / fmt::format("out/tiny-run-{}.svg", variant));
        CHECK_THAT(svg, ContainsSubstring(fmt::format(">tiny-run: {}</text>", variant)) &&
                            ContainsSubstring("class=\"pass\"") && ContainsSubstring("gradients, weights"));
        CHECK(svg.ends_with("</svg>\n"));
    }
    CHECK_THAT(outcome.err, ContainsSubstring("tiny-run-ring.svg: 1 stage, 2 passes"));
    CHECK(traced.run({"--trace", "png"}).status == 2);
}

TEST_CASE(
    "a picture of stages has every pass: gradients of weights after those of inputs, in several tasks for a layer") {
    const TempDir folder;
    const Outcome outcome = run_program(
        {.arguments = {"run", shipped("scenarios/llama-3-70b.yaml"), "--variant", "no-virtual-stages", "--set",
                       "training.ranks=64", "--set", "training.batch=16", "--set",
                       "training.parallelism.pipeline.schedule=zb-h1", "--trace", "svg", "--trace-file", "stages.svg"},
         .directory = folder.path()});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    // 64 ranks are 2 replicas of 4 stages, each rank one of 4 x 2: 8 microbatches, three passes each.
    CHECK_THAT(outcome.err, ContainsSubstring("stages.svg: 4 stages, 96 passes"));
}
