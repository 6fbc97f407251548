#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Tests `syncline export` and scenarios with a trace: what one writes the other simulates.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

json result_of(const TempDir& directory, std::vector<std::string> options) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--format", "json"});
    const Outcome outcome = run_in(directory, std::move(options));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out).at("results").at(0);
}

}  // namespace

TEST_CASE("an exported training takes as long as before, and is exported again byte for byte") {
    const TinyFiles files;
    const std::vector<std::string> scenario{"scenario.yaml", "--variant", "ring", "--set", "training.iterations=1"};
    const auto exported = [&](const std::string& format, const std::string& path) {
        std::vector<std::string> options{"export"};
        options.insert(options.end(), scenario.begin(), scenario.end());
        options.insert(options.end(), {"--as", format, "--out", path});
        const Outcome outcome = run_in(files, options);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        CHECK(outcome.out.empty());
    };
    exported("chakra", "ring");
    files.write("trace.yaml", "platform: platform.yaml\ntrace: {files: 'ring.{rank}.et', eager: 0 B}\n");
    const json training = result_of(files, scenario), trace = result_of(files, {"trace.yaml"});
    for (const char* field : {"ranks", "messages", "bytes_sent"}) CHECK(trace.at(field) == training.at(field));
    // Microseconds in a file, of about 20 us of computation.
    CHECK(trace.at("iteration_time_s").get<double>() ==
          Approx(training.at("iteration_time_s").get<double>()).epsilon(1e-3));
    CHECK(trace.at("exchange") == "trace");
    CHECK(trace.at("memory").at("total_bytes").is_null());
    CHECK(trace.at("scaling").is_null());

    const Outcome again = run_in(files, {"export", "trace.yaml", "--as", "chakra", "--out", "again"});
    CHECK(again.status == 0);
    for (const char* rank : {"0", "1", "2", "3"})
        CHECK(read_file(files / ("again." + std::string(rank) + ".et")) ==
              read_file(files / ("ring." + std::string(rank) + ".et")));

    const auto note_of = [&](const std::string& format) {
        std::vector<std::string> options{"export"};
        options.insert(options.end(), scenario.begin(), scenario.end());
        options.insert(options.end(), {"--as", format, "--out", "noted"});
        return run_in(files, options).err;
    };
    CHECK_THAT(note_of("simgrid-ti"), ContainsSubstring("note: actions of a rank follow one another in 'simgrid-ti'"));
    CHECK(note_of("chakra").find("follow one another") == std::string::npos);

    exported("goal", "ring.goal");
    CHECK_THAT(read_file(files / "ring.goal"), ContainsSubstring("num_ranks 4"));
}

TEST_CASE("explain, batch and reports of a trace work as those of a training") {
    const TinyFiles files;
    files.write("two.goal",
                "num_ranks 2\nrank 0 {\na: calc 5000\nb: send 40000b to 1 tag 0\nb requires a\n}\n"
                "rank 1 {\na: recv 40000b from 0 tag 0\nb: calc 3000\nb requires a\n}\n");
    files.write("trace.yaml", "platform: platform.yaml\ntrace: {files: two.goal}\n");
    // 5 us, 40 us for the bytes and 2 us of latency, 3 us.
    CHECK(result_of(files, {"trace.yaml"}).at("iteration_time_s").get<double>() == Approx(50e-6));
    CHECK(result_of(files, {"trace.yaml", "--set", "trace.speed=2"}).at("iteration_time_s").get<double>() ==
          Approx(46e-6));

    const Outcome imported =
        run_in(files, {"import", "two.goal", "--set", "platform=platform.yaml", "--out", "in.yaml"});
    CHECK(imported.status == 0);
    CHECK(result_of(files, {"in.yaml"}).at("iteration_time_s").get<double>() == Approx(50e-6));
    CHECK(run_in(files, {"import", "two.goal"}).status == 3);  // on no platform
    const Outcome misspelt =
        run_in(files, {"import", "two.goal", "--set", "platform=platform.yaml", "--set", "trace.spede=2"});
    CHECK(misspelt.status == 3);
    CHECK_THAT(misspelt.err, ContainsSubstring("did you mean 'speed'?"));

    const Outcome explained = run_in(files, {"explain", "trace.yaml", "--report", "page.html"});
    CHECK(explained.status == 0);
    CHECK_THAT(explained.out, ContainsSubstring("Limited by port"));
    CHECK(fs::exists(files / "page.html"));

    files.write("study.yaml", "base: trace.yaml\naxes:\n  platform.fabric.bandwidth: [1 GBps, 2 GBps]\n");
    CHECK(run_in(files, {"batch", "study.yaml", "--out", "results"}).status == 0);
    const Outcome stored = run_in(files, {"results", "results", "--format", "json"});
    CHECK_THAT(stored.out, ContainsSubstring("\"iteration_time_s\": 3.0000000"));
    CHECK_THAT(stored.out, ContainsSubstring("\"limited_by\": \"port"));
}

TEST_CASE("mistakes in traces are errors with their places") {
    const TinyFiles files;
    files.write("half.goal", "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 0\n}\nrank 1 {\n}\n");
    files.write("trace.yaml", "platform: platform.yaml\ntrace: {files: half.goal}\n");
    const Outcome half = run_in(files, {"run", "trace.yaml"});
    CHECK(half.status == 3);
    CHECK_THAT(half.err, ContainsSubstring("trace.yaml:2:16: error: ") && ContainsSubstring("rank 0 sends 1 message"));

    files.write("two.goal", "num_ranks 2\nrank 0 {\n}\nrank 1 {\na: calc 5\n}\n");
    for (const char* placement : {"[0]", "[0, 0]", "[0, 1, 2]"}) {
        const Outcome placed = run_in(files, {"run", "trace.yaml", "--set", "trace.files=two.goal", "--set",
                                              std::string("trace.placement=") + placement});
        CHECK(placed.status == 3);
        CHECK_THAT(placed.err, ContainsSubstring("placement"));
    }
    const Outcome drawn = run_in(files, {"run", "trace.yaml", "--set", "trace.files=two.goal", "--trace", "svg"});
    CHECK(drawn.status == 3);
    CHECK_THAT(drawn.err, ContainsSubstring("has no stages to draw"));
    CHECK(run_in(files, {"run", "trace.yaml", "--set", "trace.files=two.goal", "--trace", "chrome"}).status == 0);

    const Outcome missing = run_in(files, {"run", "trace.yaml", "--set", "trace.files=no.goal"});
    CHECK(missing.status == 3);
    CHECK_THAT(missing.err, ContainsSubstring("'no.goal' does not exist"));

    files.write("both.yaml", "platform: platform.yaml\nworkload: workload.yaml\ntrace: {files: half.goal}\n");
    CHECK_THAT(run_in(files, {"check", "both.yaml"}).err,
               ContainsSubstring("'workload' and 'trace' exclude each other"));

    const Outcome variants = run_in(files, {"export", "scenario.yaml", "--as", "goal", "--out", "x"});
    CHECK(variants.status == 3);
    CHECK_THAT(variants.err, ContainsSubstring("choose one with `--variant`: ring, later, servers"));
    CHECK(!fs::exists(files / "x"));
}
