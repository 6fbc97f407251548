#include <algorithm>
#include <functional>
#include <regex>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Errors in a user's input are reported together, with their place, the text there and a hint, and nothing is written.
// Exit code 3 means a wrong file or value, 2 a wrong call of the program.

using namespace syncline::test;

namespace {

/// A directory with the small scenario's files, in which a test introduces errors.
struct Bench : TempDir {
    Bench() {
        write("platform.yaml", tiny_platform);
        write("workload.yaml", tiny_workload);
    }

    /// Writes a scenario with these lines in `training`, and `rest` after it.
    void scenario(const std::string& training, const std::string& rest = "") const {
        write("scenario.yaml",
              "platform: platform.yaml\nworkload: workload.yaml\ntraining: {" + training + "}\n" + rest);
    }

    Outcome run(std::vector<std::string> options = {}, const std::string& file = "scenario.yaml") const {
        options.insert(options.begin(), {"run", file, "--out", "out"});
        return run_in(*this, std::move(options));
    }
};

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Returns the messages of all errors, without their source lines.
std::vector<std::string> errors_of(const Outcome& outcome) {
    static const std::regex head("^[^:\n]+:[0-9]+:[0-9]+: error: .+");
    std::vector<std::string> errors;
    for (const std::string& line : lines_of(outcome.err))
        if (std::regex_match(line, head)) errors.push_back(line);
    return errors;
}

/// Checks that the output shows no internals of the program.
void check_no_inside(const Outcome& outcome) {
    std::string text = outcome.err;
    for (const std::string key = "simgrid_xml"; text.find(key) != std::string::npos;)
        text.erase(text.find(key), key.size());
    for (const char* word : {"xbt", "simgrid", "SimGrid", "terminate called", "bug in", "Assertion",
                             "what():", "yaml-cpp", "bad conversion", "std::", "Backtrace"})
        CHECK_FALSE(holds(text, word));
}

/// Checks the output for an invalid configuration. `outcome` is of a run in `directory`.
void check_refused(const Outcome& outcome, const TempDir& directory, bool excerpt = true) {
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
    check_no_inside(outcome);
    CHECK_FALSE(fs::exists(directory / "out"));
    const std::vector<std::string> lines = lines_of(outcome.err);
    const std::vector<std::string> errors = errors_of(outcome);
    REQUIRE_FALSE(errors.empty());
    CHECK(lines.front() == errors.front());
    if (!excerpt) return;
    // The indented source line follows the message, with a caret under the wrong part.
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].find(": error: ") == std::string::npos) continue;
        REQUIRE(i + 2 < lines.size());
        CHECK(lines[i + 1].rfind("    ", 0) == 0);
        CHECK(std::regex_match(lines[i + 2], std::regex(" {4,}\\^")));
    }
}

/// One error: `message` and `hint` are parts of the output, which appear once.
void check_one(const Outcome& outcome, const TempDir& directory, const std::string& message, const std::string& hint) {
    CAPTURE(outcome.err);
    check_refused(outcome, directory);
    const std::vector<std::string> errors = errors_of(outcome);
    CHECK(errors.size() == 1);
    CHECK(holds(errors.front(), message));
    if (!hint.empty()) {
        const auto at = outcome.err.find("\n  hint: ");
        REQUIRE(at != std::string::npos);
        CHECK(holds(outcome.err.substr(at), hint));
    }
}

void check_usage(const Outcome& outcome, const std::string& part) {
    CAPTURE(outcome.err, part);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(holds(outcome.err, part));
    check_no_inside(outcome);
}

struct Mistake {
    const char* text;
    const char* message;
    const char* hint;
};

}  // namespace

TEST_CASE("bad input: a directory, a device or a missing file in place of a file is an error") {
    const Bench bench;
    fs::create_directory(bench / "folder");
    bench.write("scenaro.yaml", "");
    const Mistake mistakes[] = {
        {"scenario.yaml", "does not exist", "scenaro.yaml"},
        {"folder", "is a directory", "file"},
        {".", "is a directory", "file"},
        {"/dev/zero", "not a regular file", ""},
        {"/dev/null", "not a regular file", ""},
        {"folder/nothing/there.yaml", "does not exist", ""},
        {"scenaro.yaml/below", "", ""},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.text);
        const Outcome run = bench.run({}, mistake.text);
        check_one(run, bench, mistake.message, mistake.hint);
        CHECK(run.err.rfind(std::string(mistake.text) + ":1:1: error: ", 0) == 0);
        CHECK(run_in(bench, {"check", mistake.text}).err == run.err);
    }
}

TEST_CASE("bad input: an empty file name is an error") {
    const Bench bench;
    bench.scenario("ranks: 2");
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"run", ""},
          {"check", ""},
          {"run", "scenario.yaml", "--set", "platform=''"},
          {"run", "scenario.yaml", "--set", "workload=\"\""},
          {"collective", "--platform", "", "--ranks", "2", "--bytes", "1 kB"}}) {
        const Outcome outcome = run_in(bench, arguments);
        CAPTURE(arguments, outcome.err);
        CHECK(outcome.status == 3);
        CHECK(outcome.out.empty());
        CHECK(holds(outcome.err, "error: "));
        check_no_inside(outcome);
    }
}

TEST_CASE("bad input: an exchange without `ranks` has only its own operation's algorithms") {
    const Bench bench;
    bench.write("scenario.yaml",
                "platform: platform.yaml\ncollective: {operation: broadcast, algorithm: pairwse, bytes: 1 kB}\n");
    const Outcome outcome = bench.run();
    CAPTURE(outcome.err);
    check_refused(outcome, bench, false);
    CHECK(errors_of(outcome).size() == 2);
    CHECK_FALSE(holds(outcome.err, "pairwise"));
}

TEST_CASE("bad input: an error in an empty file shows no source line") {
    const Bench bench;
    for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "~\n", "\xef\xbb\xbf"}) {
        bench.write("scenario.yaml", text);
        for (const Outcome& outcome : {bench.run(), run_in(bench, {"check", "scenario.yaml"})}) {
            CAPTURE(text, outcome.err);
            check_refused(outcome, bench, false);
            CHECK(holds(outcome.err, "this file is empty"));
        }
    }
}

TEST_CASE("bad input: text that is not YAML or not a mapping is an error") {
    const Bench bench;
    const Mistake mistakes[] = {
        {"platform: [platform.yaml\nworkload: workload.yaml\n", ":1:11: error: this '[' is not closed", "']'"},
        {"training: {ranks: 4\n", ":1:11: error: this '{' is not closed", "'}'"},
        {"name: \"no end\nplatform: x\n", "a quote is not closed", ""},
        {"training:\n\tranks: 4\n", "a tab in the indentation", "spaces"},
        {"training:\n  ranks: 4\n workload: x\n", ":3:2: error: ", "indentation"},
        {"platform: a: b\n", ":1:12: error: unexpected ':'", "quotes"},
        {"}\n", ":1:1: error: ", ""},
        {"name: @home\n", ":1:7: error: ", "quotes"},
        {"name: `date`\n", ":1:7: error: ", "quotes"},
        {"a: 1\n---\nb: 2\n", ":2:1: error: a second document begins here", ""},
        {"- a\n- b\n", ":1:1: error: scenario is a list, not a mapping", ""},
        {"just a text\n", "scenario is 'just a text', not a mapping", ""},
        {"42\n", "not a mapping", ""},
        {"[a]: 3\n", "a key must be a plain word", ""},
        {"name: !python/object:os.system ls\n", "unknown tag", ""},
        {"name: \xff\xfe\n", ":1:7: error: this byte is not UTF-8 text", "UTF-8"},
        {"name: a\x01z\n", ":1:8: error: this is control character U+0001", ""},
        {"\x1b[31mname: a\n", ":1:1: error: this is control character U+001B", ""},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.text);
        bench.write("scenario.yaml", mistake.text);
        const Outcome outcome = bench.run();
        check_one(outcome, bench, mistake.message, mistake.hint);
        CHECK(outcome.err.find('\x1b') == std::string::npos);
        check_refused(run_in(bench, {"check", "scenario.yaml"}), bench);
    }
}

TEST_CASE("bad input: binary garbage is an error") {
    const Bench bench;
    std::uint32_t state = 1;
    for (int file = 0; file < 20; ++file) {
        std::string garbage(1 + static_cast<std::size_t>(file) * 97, ' ');
        for (char& byte : garbage) {
            state = state * 1664525 + 1013904223;
            byte = static_cast<char>(state >> 24);
        }
        bench.write("scenario.yaml", garbage);
        const Outcome outcome = bench.run();
        CAPTURE(file, outcome.err);
        CHECK(outcome.status == 3);
        CHECK(outcome.out.empty());
        check_no_inside(outcome);
        CHECK_FALSE(errors_of(outcome).empty());
    }
    fs::copy_file(SYNCLINE_PROGRAM, bench / "scenario.yaml", fs::copy_options::overwrite_existing);
    check_refused(bench.run(), bench, false);
}

TEST_CASE("bad input: Windows line ends, a byte order mark and a missing final newline are accepted") {
    const Bench bench;
    bench.write("scenario.yaml",
                "\xef\xbb\xbfplatform: platform.yaml\r\nworkload: workload.yaml\r\ntraining: {ranks: 2}");
    const Outcome good = run_in(bench, {"run", "scenario.yaml"});
    CAPTURE(good.err);
    CHECK(good.status == 0);
    bench.write("scenario.yaml",
                "\xef\xbb\xbfplatform: platform.yaml\r\nworkload: workload.yaml\r\ntraining: {ranks: 0}\r\n");
    const Outcome bad = bench.run();
    check_one(bad, bench, "scenario.yaml:3:19: error: 'ranks'", "");
    CHECK(bad.err.find('\r') == std::string::npos);
}

TEST_CASE("bad input: unknown, misspelt and duplicate keys are errors") {
    const Bench bench;
    const std::pair<const char*, Mistake> mistakes[] = {
        {"ranks: 2, colour: 3", {"", ":3:22: error: unknown key 'colour'", "write one of"}},
        {"ranks: 2, batch: 3",
         {"", ":3:29: error: 3 samples cannot be divided into 2 replicas", "4 samples would divide"}},
        {"ranks: 2, batch_per_rnak: 3",
         {"", ":3:22: error: unknown key 'batch_per_rnak'", "did you mean 'batch_per_rank'"}},
        {"rank: 2", {"", "unknown key 'rank'", "did you mean 'ranks'"}},
        {"Ranks: 2", {"", "unknown key 'Ranks'", "did you mean 'ranks'"}},
        {"ranks: 2, ranks: 2", {"", ":3:22: error: duplicate key 'ranks'", "line 3"}},
        {"ranks: 2, servers: {cuont: 1}", {"", "unknown key 'cuont'", "did you mean 'count'"}},
        {"batch_per_rank: 2", {"", "missing key 'ranks' in training", ""}},
        {"ranks: 2, <<: {a: 1}", {"", "merge keys are not supported", ""}},
    };
    for (const auto& [training, expected] : mistakes) {
        CAPTURE(training);
        bench.scenario(training);
        const Outcome outcome = bench.run();
        check_one(outcome, bench, expected.message, expected.hint);
        CHECK(run_in(bench, {"check", "scenario.yaml"}).err == outcome.err);
    }
    bench.scenario("ranks: 2", "varaints: {a: {}}\n");
    check_one(bench.run(), bench, ":4:1: error: unknown key 'varaints'", "did you mean 'variants'");
    bench.scenario("ranks: 2", "variants: {a: {}, b: {}, a: {}}\n");
    check_one(bench.run(), bench, "duplicate key 'a'", "");
    bench.scenario("ranks: 2", "training.ranks: 3\n");
    check_one(bench.run(), bench, "'ranks' is set twice", "line 3");
    bench.scenario("ranks: 2", "variants: {a: {trainin.ranks: 3}}\n");
    check_one(bench.run(), bench, "unknown key 'trainin'", "did you mean 'training'");
}

TEST_CASE("bad input: quantities without a unit, with a wrong one or out of range are errors") {
    const Bench bench;
    const Mistake mistakes[] = {
        {"25", "25 has no unit", "25 Gbps"},
        {"25 GB", "25 GB is a size, not a bandwidth", "25 GB/s"},
        {"25 gbps", "unknown unit 'gbps'", "25 Gbps (bits) or 25 GBps (bytes)"},
        {"25 ms", "25 ms is a time, not a bandwidth", ""},
        {"25 Gbsp", "unknown unit 'Gbsp'", ""},
        {"-25 Gbps", "is -25 Gbps, but must be above zero", ""},
        {"0 Gbps", "is 0 Gbps, but must be above zero", ""},
        {"-0 Gbps", "but must be above zero", ""},
        {"nan Gbps", "does not begin with a number", "write for example"},
        {".nan", "does not begin with a number", ""},
        {"inf Gbps", "does not begin with a number", ""},
        {".inf", "does not begin with a number", ""},
        {"-inf Gbps", "does not begin with a number", ""},
        {"1e999 Gbps", "1e999 Gbps is out of range", ""},
        {"1e-999 Gbps", "out of range", ""},
        {"1e300 Gbps", "out of range", ""},
        {"1e-300 Gbps", "out of range", ""},
        {"2,5 Gbps", "comma", "point"},
        {"Gbps", "does not begin with a number", ""},
        {"25 Gbps 3", "unknown unit", ""},
        {"0x10 Gbps", "unknown unit", ""},
        {"true", "does not begin with a number", ""},
        {"{value: 25 Gbps}", "is a mapping, not a number with a unit", ""},
        {"''", "a number with a unit is missing", ""},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.text);
        bench.write("scenario.yaml",
                    "platform:\n  nodes: 4\n  device: {flops: 1 Tflops, memory_bandwidth: 1 TBps}\n"
                    "  fabric:\n    latency: 1 us\n    bandwidth: " +
                        std::string(mistake.text) + "\nworkload: workload.yaml\ntraining: {ranks: 2}\n");
        const Outcome outcome = bench.run();
        check_one(outcome, bench, "scenario.yaml:6:16: error: 'bandwidth'", mistake.hint);
        CHECK(holds(outcome.err, mistake.message));
        CHECK(run_in(bench, {"check", "scenario.yaml"}).err == outcome.err);
    }
}

TEST_CASE("bad input: wrong counts and choices of training are errors") {
    const Bench bench;
    const std::pair<const char*, Mistake> mistakes[] = {
        {"ranks: 0", {"", ":3:19: error: 'ranks': '0' is out of range", "from 1"}},
        {"ranks: -1", {"", "'ranks': '-1' is out of range", "from 1"}},
        {"ranks: 1.5", {"", "'ranks': '1.5' is not a whole number", ""}},
        {"ranks: ten", {"", "'ranks': 'ten' is not a whole number", ""}},
        {"ranks: '4'", {"", "is not a whole number", "without quotes"}},
        {"ranks: 1e3", {"", "is not a whole number", "write 1000"}},
        {"ranks: 010", {"", "leading zero", "write 10"}},
        {"ranks: 0x10", {"", "is not a whole number", ""}},
        {"ranks: .inf", {"", "is not a whole number", ""}},
        {"ranks: 99999999999999999999999", {"", "is out of range", ""}},
        {"ranks: ~", {"", "'ranks' has no value", ""}},
        {"ranks: [4]", {"", "'ranks' is a list, not a whole number", ""}},
        {"ranks: {a: 4}", {"", "'ranks' is a mapping, not a whole number", ""}},
        {"ranks: 4 ranks", {"", "is not a whole number", ""}},
        {"ranks: 17", {"", "17 ranks do not fit platform 'tiny', which has 16 nodes", "platform.nodes=17"}},
        {"ranks: 2, batch_per_rank: 0", {"", "'batch_per_rank': '0' is out of range", ""}},
        {"ranks: 2, iterations: 0", {"", "'iterations': '0' is out of range", "from 1"}},
        {"ranks: 2, exchange: none", {"", "'exchange' cannot be 'none'", "'allreduce', 'parameter-server', 'gossip'"}},
        {"ranks: 2, exchange: allredcue", {"", "'exchange' cannot be 'allredcue'", "did you mean 'allreduce'"}},
        {"ranks: 2, algorithm: tree", {"", "'algorithm' cannot be 'tree'", "'ring'"}},
        {"ranks: 2, overlap: some", {"", "'overlap' cannot be 'some'", "'wait-free'"}},
        {"ranks: 2, overlap: true", {"", "'overlap' cannot be 'true'", ""}},
        {"ranks: 2, parallelism: models", {"", "'parallelism' cannot be 'models'", "did you mean 'model'"}},
        {"ranks: 2, input_copy: slow", {"", "'input_copy' cannot be 'slow'", ""}},
        {"ranks: 2, servers: {placement: roundrobin}",
         {"", "'placement' cannot be 'roundrobin'", "did you mean 'round-robin'"}},
        {"ranks: 2, servers: {location: here}", {"", "'location' cannot be 'here'", "'dedicated', 'colocated'"}},
        {"ranks: 2, servers: {count: 0}", {"", "'count': '0' is out of range", ""}},
        {"ranks: 2, servers: 3", {"", "'servers' is '3', not a mapping", ""}},
        {"ranks: 2, fusion: 64 MiB", {"", "'fusion' is '64 MiB', not a mapping", ""}},
        {"ranks: 2, fusion: {threshold: 64}", {"", "64 has no unit", "64 MiB"}},
        {"ranks: 2, fusion: {threshold: 0 B}", {"", "'threshold' is 0 B, but must be above zero", "'none'"}},
        {"ranks: 2, fusion: {threshold: 1 MB, cycle: -5 ms}", {"", "'cycle' is -5 ms, but must be above zero", ""}},
        {"ranks: 2, fusion: {threshold: 1 MB, cycle: 5}", {"", "5 has no unit", "5 ms"}},
        {"ranks: 16, exchange: parameter-server", {"", "do not fit platform 'tiny'", "platform.nodes=17"}},
        {"ranks: 10, exchange: parameter-server, servers: {count: 7}", {"", "do not fit platform 'tiny'", "nodes=17"}},
        {"ranks: 2, exchange: parameter-server, servers: {count: 3, location: colocated}",
         {"", "3 colocated servers need as many ranks", "dedicated"}},
    };
    for (const auto& [training, expected] : mistakes) {
        CAPTURE(training);
        bench.scenario(training);
        const Outcome outcome = bench.run();
        check_one(outcome, bench, expected.message, expected.hint);
        CHECK(run_in(bench, {"check", "scenario.yaml"}).err == outcome.err);
    }
}

TEST_CASE("bad input: errors of the platform and of the workload are reported in their files") {
    const Bench bench;
    bench.scenario("ranks: 2");
    const auto changed = [](std::string text, const std::string& from, const std::string& to) {
        const auto at = text.find(from);
        REQUIRE(at != std::string::npos);
        return text.replace(at, from.size(), to);
    };
    const Mistake platform[] = {
        {"nodes: 0", "platform.yaml:2:8: error: 'nodes': '0' is out of range", ""},
        {"nodes: many", "platform.yaml:2:8: error: 'nodes': 'many' is not a whole number", ""},
        {"node: 16", "platform.yaml:2:1: error: unknown key 'node'", "did you mean 'nodes'"},
    };
    for (const Mistake& mistake : platform) {
        bench.write("platform.yaml", changed(std::string(tiny_platform), "nodes: 16", mistake.text));
        const Outcome outcome = bench.run();
        check_one(outcome, bench, mistake.message, mistake.hint);
        CHECK(run_in(bench, {"check", "platform.yaml"}).err == outcome.err);
    }
    bench.write("platform.yaml", tiny_platform);

    const Mistake workload[] = {
        {"parameters: -1", "workload.yaml:4:45: error: 'parameters': '-1' is out of range", ""},
        {"paramters: 1000", "workload.yaml:4:33: error: unknown key 'paramters'", "did you mean 'parameters'"},
        {"filters: 1000", "", "parameters"},
    };
    for (const Mistake& mistake : workload) {
        bench.write("workload.yaml", changed(std::string(tiny_workload), "parameters: 1000", mistake.text));
        const Outcome outcome = bench.run();
        CAPTURE(outcome.err);
        check_refused(outcome, bench);
        CHECK(holds(outcome.err, mistake.message));
        CHECK(holds(outcome.err, mistake.hint));
        CHECK(run_in(bench, {"check", "workload.yaml"}).err == outcome.err);
    }
    bench.write("workload.yaml", "name: none\ninput: [1, 1, 1]\nlayers: []\n");
    check_one(bench.run(), bench, "workload.yaml:3:9: error: 'layers' has no items", "");
}

TEST_CASE("bad input: missing files, files of another kind and circular references are errors") {
    const Bench bench;
    const auto refer = [&](const std::string& platform) {
        bench.write("scenario.yaml", "platform: " + platform + "\nworkload: workload.yaml\ntraining: {ranks: 2}\n");
        return bench.run();
    };
    bench.write("self.yaml", "self.yaml\n");
    bench.write("there.yaml", "back.yaml\n");
    bench.write("back.yaml", "there.yaml\n");
    bench.write("device.yaml", "nodes: 4\ndevice: device.yaml\nfabric: {bandwidth: 1 GBps, latency: 1 us}\n");
    // The same file under another name.
    fs::create_directory_symlink(".", bench / "link");
    bench.write("linked.yaml", "link/linked.yaml\n");

    check_one(refer("platfrom.yaml"), bench, "scenario.yaml:1:11: error: 'platfrom.yaml' does not exist",
              "did you mean 'platform.yaml'");
    check_one(refer("."), bench, "scenario.yaml:1:11: error: '.' is a directory", "");
    check_one(refer("scenario.yaml"), bench,
              "scenario.yaml:1:11: error: reference cycle: scenario.yaml -> scenario.yaml", "");
    check_one(refer("self.yaml"), bench, "self.yaml:1:1: error: reference cycle: self.yaml -> self.yaml", "");
    check_one(refer("there.yaml"), bench,
              "back.yaml:1:1: error: reference cycle: there.yaml -> back.yaml -> there.yaml", "");
    check_one(refer("device.yaml"), bench, "device.yaml:2:9: error: reference cycle: device.yaml -> device.yaml", "");
    check_one(refer("linked.yaml"), bench, "reference cycle: ", "");
    check_one(refer("/dev/zero"), bench, "is not a regular file", "");

    const Outcome workload = refer("workload.yaml");
    CAPTURE(workload.err);
    check_refused(workload, bench);
    CHECK(holds(workload.err, "workload.yaml:1:1: error: missing keys 'device', 'fabric' in platform"));
    const Outcome scenario = bench.run({}, "platform.yaml");
    check_refused(scenario, bench);
    CHECK(holds(scenario.err, "missing keys 'platform', 'workload', 'training'"));
    check_one(run_in(bench, {"check", "there.yaml"}), bench, "this is not a scenario, platform", "a scenario has");
}

TEST_CASE("bad input: values of the wrong type are errors") {
    const Bench bench;
    const Mistake mistakes[] = {
        {"platform: [a]\nworkload: workload.yaml\ntraining: {ranks: 2}\n", ":1:11: error: 'platform' is a list",
         "file"},
        {"platform: platform.yaml\nworkload: [a]\ntraining: {ranks: 2}\n", ":2:11: error: 'workload' is a list",
         "file"},
        {"platform: platform.yaml\nworkload: workload.yaml\ntraining: [ranks, 2]\n",
         ":3:11: error: 'training' is a list, not a mapping", ""},
        {"platform: platform.yaml\nworkload: workload.yaml\ntraining: 2\n",
         ":3:11: error: 'training' is '2', not a mapping", ""},
        {"name: {a: 1}\nplatform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 2}\n",
         ":1:7: error: 'name' is a mapping, not a text", ""},
        {"platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 2}\nvariants: [a]\n",
         ":4:11: error: 'variants' is not a mapping", "keys that differ, by variant"},
        {"platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 2}\nvariants: {a: 1}\n",
         ":4:15: error: variant 'a' is not a mapping", ""},
        {"platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 2}\nvariants: {a: {name: b}}\n",
         ":4:16: error: a variant cannot change 'name'", ""},
    };
    for (const Mistake& mistake : mistakes) {
        bench.write("scenario.yaml", mistake.text);
        const Outcome outcome = bench.run();
        check_one(outcome, bench, mistake.message, mistake.hint);
        CHECK(run_in(bench, {"check", "scenario.yaml"}).err == outcome.err);
    }
}

TEST_CASE("bad input: anchors and aliases are refused at their place") {
    const Bench bench;
    bench.write("scenario.yaml",
                "platform: &p platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 2}\nname: *p\n");
    const Outcome outcome = bench.run();
    CAPTURE(outcome.err);
    check_refused(outcome, bench);
    CHECK(errors_of(outcome) == std::vector<std::string>{"scenario.yaml:1:11: error: anchors are not supported",
                                                         "scenario.yaml:4:7: error: aliases are not supported"});
    // If aliases were expanded, this would have a billion nodes.
    std::ostringstream laughs;
    laughs << "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 10; ++i) {
        laughs << 'a' << i << ": &a" << i << " [*a" << i - 1;
        for (int copy = 0; copy < 8; ++copy) laughs << ", *a" << i - 1;
        laughs << "]\n";
    }
    bench.write("scenario.yaml", laughs.str());
    check_refused(bench.run(), bench);
}

TEST_CASE("bad input: all errors are reported together") {
    const Bench bench;
    bench.write("scenario.yaml",
                "name: [several]\n"
                "platform:\n"
                "  nodes: none\n"
                "  device: {flops: 1 Tflop, memory_bandwidth: 100}\n"
                "  fabric: {bandwidth: 1 GBps, latency: 1 GB, jitter: 3}\n"
                "workload: absent.yaml\n"
                "training: {ranks: 0, exchange: gosips, overlap: wait-fre}\n"
                "variants:\n"
                "  first: {training.batch_per_rank: many}\n"
                "  second: 3\n");
    const Outcome outcome = bench.run({"--set", "training.iterations=0"});
    CAPTURE(outcome.err);
    check_refused(outcome, bench);
    const std::vector<std::string> errors = errors_of(outcome);
    const char* const parts[] = {"scenario.yaml:1:7: error: 'name' is a list",
                                 "scenario.yaml:3:10: error: 'nodes': 'none'",
                                 "scenario.yaml:4:19: error: 'flops'",
                                 "scenario.yaml:4:46: error: 'memory_bandwidth': 100 has no unit",
                                 "scenario.yaml:5:40: error: 'latency': 1 GB is a size, not a time",
                                 "scenario.yaml:5:46: error: unknown key 'jitter'",
                                 "scenario.yaml:6:11: error: 'absent.yaml' does not exist",
                                 "scenario.yaml:7:19: error: 'ranks': '0'",
                                 "scenario.yaml:7:32: error: 'exchange' cannot be 'gosips'",
                                 "scenario.yaml:7:49: error: 'overlap' cannot be 'wait-fre'",
                                 "scenario.yaml:9:36: error: 'batch_per_rank': 'many'",
                                 "scenario.yaml:10:11: error: variant 'second' is not a mapping",
                                 "--set:1:21: error: 'iterations': '0'"};
    for (const char* part : parts) {
        CAPTURE(part);
        CHECK(std::count_if(errors.begin(), errors.end(),
                            [&](const std::string& error) { return error.rfind(part, 0) == 0; }) == 1);
    }
    CHECK(errors.size() == std::size(parts));
    const Outcome check = run_in(bench, {"check", "scenario.yaml"});
    check_refused(check, bench);
    CHECK(errors_of(check).size() == std::size(parts) - 1);
}

TEST_CASE("bad input: an error in the base is reported once, however many variants have it") {
    const Bench bench;
    bench.scenario("ranks: 0", "variants: {a: {}, b: {}, c: {training.overlap: none}}\n");
    check_one(bench.run(), bench, "'ranks': '0'", "");
}

TEST_CASE("bad input: a long list of errors ends with the number of the others") {
    const Bench bench;
    std::string layers = "name: m\ninput: [1, 1, 1]\nlayers:\n";
    for (int i = 0; i < 20000; ++i) layers += "  - {nme: a}\n";
    bench.write("workload.yaml", layers);
    bench.scenario("ranks: 2");
    const Outcome outcome = bench.run();
    check_refused(outcome, bench, false);
    CHECK(outcome.err.size() < 20'000);
    CHECK(std::regex_search(outcome.err, std::regex("\nand [0-9]+ more errors\n$")));
}

TEST_CASE("bad input: check reports the valid files and all errors of the others") {
    const Bench bench;
    bench.scenario("ranks: 2");
    bench.write("bad.yaml", "platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 0}\n");
    bench.write("device.yaml", "flops: 1 Tflops\nmemory_bandwidth: 1 TBps\n");
    const Outcome good = run_in(bench, {"check", "scenario.yaml", "platform.yaml", "workload.yaml", "device.yaml"});
    CHECK(good.status == 0);
    CHECK(good.err.empty());
    CHECK(lines_of(good.out).size() == 4);
    for (const char* line : {"scenario.yaml: a correct scenario\n", "platform.yaml: a correct platform\n",
                             "workload.yaml: a correct workload\n", "device.yaml: a correct device\n"})
        CHECK(holds(good.out, line));

    const Outcome bad = run_in(bench, {"check", "bad.yaml", "platform.yaml", "absent.yaml", "bad.yaml"});
    CAPTURE(bad.err);
    CHECK(bad.status == 3);
    CHECK(bad.out == "platform.yaml: a correct platform\n");
    CHECK(holds(bad.err, "bad.yaml:3:19: error: 'ranks'"));
    CHECK(holds(bad.err, "absent.yaml:1:1: error: 'absent.yaml' does not exist"));
}

TEST_CASE("bad input: errors in --set are shown in the argument") {
    const Bench bench;
    bench.scenario("ranks: 2", "variants: {a: {}, b: {}}\n");
    const Mistake mistakes[] = {
        {"training.ranks", "--set:1:1: error: missing '='", "training.ranks=8"},
        {"=8", "--set:1:1: error: missing key before '='", ""},
        {"training..ranks=8", "--set:1:10: error: this path has an empty part", ""},
        {".=8", "--set:1:1: error: this path has an empty part", ""},
        {"training.rnaks=8", "--set:1:10: error: unknown key 'rnaks'", "did you mean 'ranks'"},
        {"trainings.ranks=8", "--set:1:1: error: unknown key 'trainings'", "did you mean 'training'"},
        {"training.ranks=0", "--set:1:16: error: 'ranks': '0' is out of range", ""},
        {"training.ranks=99", "--set:1:16: error: 99 ranks do not fit platform 'tiny'", "platform.nodes=99"},
        {"training.ranks=[8", "--set:1:16: error: this '[' is not closed", ""},
        {"training.ranks=8: 9", "--set:1:16: error: ", ""},
        {"training.ranks=&a 8", "--set:1:16: error: anchors are not supported", ""},
        {"training=8", "--set:1:10: error: 'training' is '8', not a mapping", ""},
        {"training.ranks.more=8", "error: 'ranks' is a mapping, not a whole number", ""},
        {"platform=absent.yaml", "--set:1:10: error: 'absent.yaml' does not exist", ""},
        {"platform.fabric.latency=1", "--set:1:25: error: 'latency': 1 has no unit", "1 ms"},
        {"platform.fabric.latency=-1 us", "but must be above zero", "none"},
        {"variants.a=8", "variant 'a' is not a mapping", ""},
        {"training={ranks: 8, ranks: 9}", "duplicate key 'ranks'", ""},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.text);
        check_one(bench.run({"--set", mistake.text}), bench, mistake.message, mistake.hint);
    }
    const Outcome nothing = bench.run({"--set", ""});
    check_refused(nothing, bench, false);
    const Outcome several = bench.run({"--set", "training.ranks=0", "--set", "oops", "--set", "training.overlap=x"});
    check_refused(several, bench);
    CHECK(errors_of(several).size() == 3);
}

TEST_CASE("bad input: an exchange alone reports errors like a training") {
    const Bench bench;
    const auto ask = [&](const std::string& key, const std::string& value) {
        std::vector<std::pair<std::string, std::string>> options{
            {"--platform", "platform.yaml"}, {"--ranks", "4"},    {"--operation", "allreduce"},
            {"--algorithm", "ring"},         {"--bytes", "1 MB"}, {"--out", "out"}};
        std::vector<std::string> arguments{"collective"};
        bool there = false;
        for (auto& [option, text] : options) {
            there = there || option == key;
            arguments.insert(arguments.end(), {option, option == key ? value : text});
        }
        if (!there) arguments.insert(arguments.end(), {key, value});
        return run_in(bench, arguments);
    };
    const std::pair<const char*, Mistake> mistakes[] = {
        {"--platform", {"absent.yaml", "--platform:1:12: error: 'absent.yaml' does not exist", ""}},
        {"--platform", {".", "--platform:1:12: error: '.' is a directory", ""}},
        {"--ranks", {"0", "--ranks:1:9: error: 'ranks': '0' is out of range", ""}},
        {"--ranks", {"-1", "--ranks:1:9: error: 'ranks': '-1' is out of range", ""}},
        {"--ranks", {"1.5", "'1.5' is not a whole number", ""}},
        {"--ranks", {"ten", "'ten' is not a whole number", ""}},
        {"--ranks", {"17", "17 ranks do not fit platform 'tiny', which has 16 nodes", "platform.nodes=17"}},
        {"--operation", {"total", "--operation:1:13: error: 'operation' cannot be 'total'", "'allreduce'"}},
        {"--algorithm", {"rnig", "'algorithm' cannot be 'rnig'", "did you mean 'ring'"}},
        {"--bytes", {"100", "--bytes:1:9: error: 'bytes': 100 has no unit", "100 MiB"}},
        {"--bytes", {"-5 MB", "but must not be negative", ""}},
        {"--bytes", {"5 Gbps", "5 Gbps is a bandwidth, not a size", ""}},
        {"--bytes", {"nan B", "does not begin with a number", ""}},
        {"--bytes", {"1e999 B", "out of range", ""}},
        {"--bytes", {"1e30 B", "", ""}},
        {"--bytes", {"20 EB", "", ""}},
        {"--bytes", {"", "a number with a unit is missing", ""}},
        {"--servers", {"2", "'ring' uses no servers", "parameter-server"}},
        {"--set", {"platform.fabric.latency=1", "--set:1:25: error: 'latency': 1 has no unit", ""}},
        {"--set", {"platfrom.nodes=4", "--set:1:1: error: unknown key 'platfrom'", "did you mean 'platform'"}},
    };
    for (const auto& [key, mistake] : mistakes) {
        CAPTURE(key, mistake.text);
        check_one(ask(key, mistake.text), bench, mistake.message, mistake.hint);
    }
    const Outcome several = run_in(
        bench, {"collective", "--platform", "absent.yaml", "--ranks", "0", "--bytes", "1", "--algorithm", "tree"});
    check_refused(several, bench);
    CHECK(errors_of(several).size() == 4);
}

TEST_CASE("bad input: files made to exhaust the reader are refused quickly") {
    const Bench bench;
    const auto repeated = [](const std::string& text, std::size_t bytes) {
        std::string result;
        result.reserve(bytes + text.size());
        while (result.size() < bytes) result += text;
        return result;
    };
    const auto staircase = [](std::size_t bytes) {
        std::string result;
        result.reserve(bytes + 20'000);
        for (std::size_t depth = 0; result.size() < bytes; ++depth) result += std::string(depth, ' ') + "a:\n";
        return result;
    };
    // Some files are refused by their size, others are small enough to be read.
    const std::size_t bytes = GENERATE(std::size_t{50'000'000}, std::size_t{8'000'000}, std::size_t{499'990});
    const std::pair<const char*, std::function<std::string()>> files[] = {
        {"lists", [&] { return repeated("[", bytes); }},
        {"mappings", [&] { return repeated("{a: ", bytes); }},
        {"blocks", [&] { return staircase(bytes); }},
        {"dashes", [&] { return repeated("- ", bytes); }},
        {"questions", [&] { return repeated("? ", bytes); }},
        {"items", [&] { return "layers: [" + repeated("{}, ", bytes) + "]"; }},
        {"quote", [&] { return "name: \"" + repeated("a", bytes); }},
        {"word", [&] { return repeated("a", bytes); }},
        {"tags", [&] { return repeated("!", bytes); }},
        {"spaces", [&] { return repeated(" ", bytes) + "a"; }},
        {"documents", [&] { return repeated("---\n", bytes); }},
    };
    for (const auto& [name, make] : files) {
        bench.write("scenario.yaml", make());
        for (const Outcome& outcome : {bench.run(), run_in(bench, {"check", "scenario.yaml"})}) {
            CAPTURE(name, bytes, outcome.err.substr(0, 2000), outcome.seconds, outcome.peak_kib);
            CHECK(outcome.status == 3);
            CHECK(outcome.out.empty());
            CHECK_FALSE(errors_of(outcome).empty());
            CHECK(outcome.err.size() < 10'000);
            check_no_inside(outcome);
            CHECK(static_cast<double>(outcome.peak_kib) < 500'000 * patience);
        }
        CHECK_FALSE(fs::exists(bench / "out"));
    }
}

TEST_CASE("bad input: files with very many keys, variants or errors are refused quickly") {
    const Bench bench;
    const auto many = [](int count, const auto& line) {
        std::string text;
        for (int i = 0; i < count; ++i) text += line(std::to_string(i));
        return text;
    };
    bench.scenario("ranks: 2");
    const std::string start = "platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 4}\n";
    const std::string files[] = {
        start + many(240'000, [](const std::string& i) { return "rnks" + i + ": 1\n"; }),
        start + "variants:\n" + many(100'000, [](const std::string& i) { return "  v" + i + ": {}\n"; }),
        "base: scenario.yaml\naxes:\n  training.ranks: [1" + many(200'000, [](const std::string&) { return ", 2"; }) +
            "]\n",
    };
    for (const std::string& file : files) {
        bench.write("many.yaml", file);
        const Outcome outcome = run_in(bench, {"check", "many.yaml"});
        CAPTURE(file.substr(0, 200), outcome.err.substr(0, 2000), outcome.seconds, outcome.peak_kib);
        CHECK(outcome.status == 3);
        CHECK(outcome.err.size() < 10'000);
        CHECK(static_cast<double>(outcome.peak_kib) < 488'000 * patience);
    }
}

TEST_CASE("bad input: a key that is a very long path is refused quickly") {
    const Bench bench;
    std::string path;
    for (int part = 0; part < 50'000; ++part) path += "a.";
    path += 'b';
    bench.scenario("ranks: 2", "? " + path + "\n: 1\n");
    check_refused(bench.run(), bench);
    check_refused(run_in(bench, {"check", "scenario.yaml"}), bench);
    bench.scenario("ranks: 2");
    check_refused(bench.run({"--set", path + "=1"}), bench);
}

TEST_CASE("bad input: a large file is also refused as platform or workload") {
    const Bench bench;
    bench.scenario("ranks: 2");
    bench.write("platform.yaml", std::string(50'000'000, '['));
    check_one(bench.run(), bench, "scenario.yaml:1:11: error: 'platform.yaml' is too large", "MiB");
}

TEST_CASE("bad input: a long line is cut to a window around the error") {
    const Bench bench;
    bench.scenario("ranks: 2",
                   "description: " + std::string(100'000, 'x') + "\nname: [" + std::string(50'000, 'y') + "]\n");
    const Outcome outcome = bench.run();
    check_one(outcome, bench, "'name' is a list", "");
    CHECK(outcome.err.size() < 1000);
}

TEST_CASE("bad input: columns count characters, and the caret is under them") {
    const Bench bench;
    bench.scenario("name: 1, ranks: 2");
    bench.write("scenario.yaml",
                "name: é\nplatform: platform.yaml\nworkload: workload.yaml\ntraining: {ränge: 3, ranks: 0}\n");
    const Outcome outcome = bench.run();
    CAPTURE(outcome.err);
    check_refused(outcome, bench);
    CHECK(holds(outcome.err,
                "scenario.yaml:4:29: error: 'ranks': '0' is out of range\n"
                "    training: {ränge: 3, ranks: 0}\n"
                "                                ^\n"));
    CHECK(holds(outcome.err, "scenario.yaml:4:12: error: unknown key 'ränge'"));
}

TEST_CASE("bad input: the user's text cannot control the terminal") {
    const Bench bench;
    bench.write("scenario.yaml",
                "platform: \"\\e[31mred\"\nworkload: workload.yaml\ntraining: {ranks: 2, \"\\e]0;title\\a\": 1}\n");
    const Outcome outcome = bench.run({"--set", "\x1b[2Jx=1"});
    CAPTURE(outcome.err);
    check_refused(outcome, bench);
    CHECK(outcome.err.find('\x1b') == std::string::npos);
    CHECK(outcome.err.find('\a') == std::string::npos);
}

TEST_CASE("usage: unknown verbs and options are errors") {
    const Bench bench;
    bench.scenario("ranks: 2");
    check_usage(run_in(bench, {"rum", "scenario.yaml"}), "did you mean 'run'?");
    check_usage(run_in(bench, {"colective"}), "did you mean 'collective'?");
    check_usage(run_in(bench, {"frobnicate"}), "unknown verb 'frobnicate'");
    check_usage(run_in(bench, {"frobnicate"}),
                "run, collective, topology, workload, check, batch, explore, explain, results, plot, lesson, validate, "
                "calibrate, list, where, schema, completion");
    check_usage(run_in(bench, {"scenario.yaml"}), "unknown verb 'scenario.yaml'");
    check_usage(run_in(bench, {}), "--help");
    check_usage(run_in(bench, {"--verbose"}), "--help");
    check_usage(run_in(bench, {"run"}), "SCENARIO");
    check_usage(run_in(bench, {"check"}), "FILE");
    check_usage(run_in(bench, {"schema"}), "KIND");
    check_usage(run_in(bench, {"schema", "cluster"}), "cluster");
    check_usage(run_in(bench, {"run", "scenario.yaml", "extra.yaml"}), "extra.yaml");
    check_usage(run_in(bench, {"run", "scenario.yaml", "--frmat", "json"}), "--frmat");
    check_usage(run_in(bench, {"run", "scenario.yaml", "--set"}), "--set");
    check_usage(run_in(bench, {"run", "scenario.yaml", "--out"}), "--out");
    check_usage(run_in(bench, {"run", "scenario.yaml", "--seed", "red"}), "--seed");
    check_usage(run_in(bench, {"run", "scenario.yaml", "--format", "xml"}), "--format");
    check_usage(run_in(bench, {"run", "scenario.yaml", "--format"}), "--format");
    check_usage(run_in(bench, {"collective", "--ranks", "2", "--bytes", "1 MB"}), "--platform");
    check_usage(run_in(bench, {"collective", "--platform", "platform.yaml", "--bytes", "1 MB"}), "--ranks");
    check_usage(run_in(bench, {"collective", "--platform", "platform.yaml", "--ranks", "2"}), "--bytes");
    check_usage(
        run_in(bench, {"collective", "--platform", "platform.yaml", "--ranks", "2", "--ranks", "3", "--bytes", "1 MB"}),
        "--ranks");
}

TEST_CASE("usage: a seed that is not a number of 64 bits is an error") {
    const Bench bench;
    bench.scenario("ranks: 2");
    for (const char* seed : {"-1", "99999999999999999999999", "1.5", ""}) {
        const Outcome outcome = run_in(bench, {"run", "scenario.yaml", "--seed", seed});
        CAPTURE(seed);
        check_usage(outcome, "--seed");
    }
}

TEST_CASE("usage: an unknown format is an error that lists the formats") {
    const Bench bench;
    bench.scenario("ranks: 2");
    const Outcome outcome = run_in(bench, {"run", "scenario.yaml", "--format", "xml", "--out", "out"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    for (const char* word : {"xml", "table", "json", "csv"}) CHECK(holds(outcome.err, word));
    CHECK_FALSE(fs::exists(bench / "out"));
}

TEST_CASE("usage: --help works everywhere, and --version") {
    const Bench bench;
    const std::pair<std::vector<std::string>, std::vector<const char*>> helps[] = {
        {{"--help"}, {"run", "collective", "check", "lesson", "schema", "--version", "Exit codes"}},
        {{"-h"}, {"run", "collective"}},
        {{"run", "--help"}, {"SCENARIO", "--set", "--format", "--out", "--seed", "table|json|csv"}},
        {{"run", "absent.yaml", "--help"}, {"SCENARIO"}},
        {{"collective", "--help"},
         {"--platform", "--ranks", "--operation", "--algorithm", "--bytes", "--servers", "--set", "--format"}},
        {{"check", "--help"}, {"FILE"}},
        {{"lesson", "--help"}, {"NAME|NUMBER", "--handout", "--no-pause"}},
        {{"schema", "--help"}, {"scenario, platform, device", "selection"}},
    };
    for (const auto& [arguments, words] : helps) {
        const Outcome outcome = run_in(bench, arguments);
        CAPTURE(arguments, outcome.out, outcome.err);
        CHECK(outcome.status == 0);
        CHECK(outcome.err.empty());
        for (const char* word : words) CHECK(holds(outcome.out, word));
    }
    const Outcome version = run_in(bench, {"--version"});
    CHECK(version.status == 0);
    CHECK(version.err.empty());
    CHECK(std::regex_match(version.out, std::regex("syncline [0-9]+\\.[0-9]+\\.[0-9]+\n")));
}
