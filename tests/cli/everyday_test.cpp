#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// At a terminal every program should have tables that fit, and help with typing errors.

using namespace syncline::test;
using nlohmann::json;

namespace {

std::size_t widest(const std::string& text) {
    std::istringstream stream(text);
    std::size_t most = 0;
    for (std::string line; std::getline(stream, line);) {
        if (line.ends_with('\r')) line.pop_back();
        most = std::max(most, line.size());
    }
    return most;
}

/// Runs the program on a terminal of its own with `columns` columns, and returns what it shows.
std::string on_terminal(const TempDir& directory, unsigned short columns, std::vector<std::string> arguments,
                        bool colours = false, const char* locale = "C") {
    const winsize size{50, columns, 0, 0};
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    REQUIRE(child >= 0);
    if (child == 0) {
        unsetenv("COLUMNS");
        unsetenv("NO_COLOR");
        setenv("TERM", "xterm", 1);
        setenv("LC_ALL", locale, 1);
        if (!colours) setenv("NO_COLOR", "1", 1);
        std::vector<char*> list{const_cast<char*>("syncline")};
        for (std::string& argument : arguments) list.push_back(argument.data());
        list.push_back(nullptr);
        if (chdir(directory.path().c_str()) == 0) execv(SYNCLINE_PROGRAM, list.data());
        _exit(127);
    }
    std::string text;
    for (char some[4096];;) {
        const ssize_t count = read(terminal, some, sizeof some);
        if (count <= 0) break;  // a terminal without a writer says EIO
        text.append(some, static_cast<std::size_t>(count));
    }
    close(terminal);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    return text;
}

std::vector<std::string> run(std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "scenario.yaml"});
    return options;
}

}  // namespace

TEST_CASE("tables: they fit 80 columns in pipes and files, and the width of a terminal") {
    const TinyFiles tiny;
    const Outcome piped = run_in(tiny, run({"--out", "out"}));
    REQUIRE(piped.status == 0);
    CHECK(widest(piped.out.substr(0, piped.out.find("\nnote"))) <= 80);
    CHECK(read_file(tiny / "out/results.txt") == piped.out);
    for (const std::size_t width : {50U, 100U, 200U}) {
        CAPTURE(width);
        const std::string shown = on_terminal(tiny, static_cast<unsigned short>(width), run({}));
        CHECK(holds(shown, "note: "));
        CHECK(widest(shown) <= width);
        CHECK(!holds(shown, "\x1b"));
    }
    const std::string coloured = on_terminal(tiny, 80, run({}), true);
    CHECK(coloured.starts_with("\x1b[1mtiny-run: "));
    CHECK(holds(coloured, "\x1b[33mnote\x1b[0m"));
    CHECK(!holds(piped.out, "\x1b"));
    CHECK(holds(on_terminal(tiny, 200, run({})), "iteration"));
    // All columns are in one table.
    const std::string wide = run_in(tiny, run({"--wide"})).out;
    CHECK(wide.find("\nvariant ") == wide.rfind("\nvariant "));
    CHECK(widest(wide) > 80);
}

TEST_CASE("tables: a terminal with UTF-8 has a bar for each variant, and nothing else has") {
    const TinyFiles tiny;
    const std::string piped = run_in(tiny, run({})).out, full = "█";
    CHECK(!holds(piped, full));
    CHECK(!holds(on_terminal(tiny, 80, run({})), full));  // not UTF-8
    const std::string plain = on_terminal(tiny, 80, run({}), false, "C.UTF-8");
    CHECK(holds(plain, "\r\nring  "));
    CHECK(holds(plain, "█ compute  ▓ exposed communication"));
    CHECK(!holds(plain, "\x1b"));
    CHECK(holds(on_terminal(tiny, 80, run({}), true, "C.UTF-8"), "\x1b[34m█"));
    // --columns asks for a table of these.
    CHECK(!holds(on_terminal(tiny, 80, run({"--columns", "iteration"}), false, "C.UTF-8"), full));
    CHECK(holds(
        on_terminal(tiny, 80, {"explain", "scenario.yaml", "--variant", "ring", "--no-what-if"}, false, "C.UTF-8"),
        full));
}

TEST_CASE("texts: one rank is not several", "[memory]") {
    const TinyFiles tiny;
    const std::vector<std::string> alone{"scenario.yaml", "--variant", "ring", "--set", "training.ranks=1"};
    for (std::vector<std::string> arguments :
         {std::vector<std::string>{"run", "--dry-run"}, {"run"}, {"explain", "--no-what-if"}}) {
        arguments.insert(arguments.end(), alone.begin(), alone.end());
        const Outcome outcome = run_in(tiny, arguments);
        CAPTURE(arguments);
        CHECK(outcome.status == 0);
        CHECK_FALSE(holds(outcome.out + outcome.err, " 1 ranks"));
        CHECK((arguments[1] == "--dry-run" || arguments[0] == "explain") == holds(outcome.out, " 1 rank"));
    }
    for (const char* option : {"--bytes=1MB", "--sweep=bytes=1MB,2MB"}) {
        const Outcome outcome = run_in(tiny, {"collective", "--platform", "platform.yaml", "--ranks", "1", option});
        CHECK(outcome.status == 0);
        CHECK(holds(outcome.out, " 1 rank"));
        CHECK_FALSE(holds(outcome.out, " 1 ranks"));
    }
}

TEST_CASE("program: alone it gives five examples of verbs that there are", "[memory]") {
    const Outcome alone = run_program({.arguments = {}});
    CHECK(alone.status == 2);
    CHECK(alone.out.empty());
    CHECK(widest(alone.err) <= 81);
    const std::string help = run_program({.arguments = {"--help"}}).out;
    std::size_t examples = 0;
    std::istringstream lines(alone.err);
    for (std::string line, program, verb; std::getline(lines, line);) {
        std::istringstream words(line);
        if (!line.starts_with("  syncline ") || !(words >> program >> verb)) continue;
        ++examples;
        CAPTURE(line);
        CHECK(holds(help, "\n  " + verb + " "));
    }
    CHECK(examples == 5);
}

TEST_CASE("tables: the README shows how the output of the default scenario begins") {
    const std::string readme = read_file(shipped("README.md"));
    const std::size_t begin = readme.find("```\nllama-3-70b: ") + 4;
    const std::string sample = readme.substr(begin, readme.find("```\n", begin) - begin);
    CHECK(sample.size() > 500);
    CHECK(run_program({.arguments = {"run", shipped("scenarios/llama-3-70b.yaml")}}).out.starts_with(sample + "\n"));
}

TEST_CASE("tables: what all variants share is told once, and a single variant is a list", "[memory]") {
    const TinyFiles tiny;
    CHECK(holds(run_in(tiny, run({})).out, "model two-layers, ranks 4, scaling weak"));
    const std::string one = run_in(tiny, run({"--variant", "later"})).out;
    CHECK(holds(one, "\nvariant        later\nmodel          two-layers\nranks          4\niteration "));
}

TEST_CASE("tables: --columns chooses any field, and a misspelt one is a usage error with a suggestion", "[memory]") {
    const TinyFiles tiny;
    const Outcome chosen = run_in(tiny, run({"--columns", "ranks,iteration_time,busiest link,gradient_bytes"}));
    CHECK(chosen.status == 0);
    CHECK(holds(chosen.out, "variant  ranks  iteration      busiest link  gradient"));
    const Outcome misspelt = run_in(tiny, run({"--columns", "iteratoin"}));
    CHECK(misspelt.status == 2);
    CHECK(misspelt.out.empty());
    CHECK(misspelt.err == "error: --columns: there is no column 'iteratoin'\n  hint: did you mean 'iteration'?\n");
    CHECK(run_in(tiny, run({"--columns", "ranks", "--format", "csv"})).status == 2);
}

TEST_CASE("run: --variant simulates only the variants that it names") {
    const TinyFiles tiny;
    const json all = json::parse(run_in(tiny, run({"--format", "json"})).out)["results"];
    const json some = json::parse(
        run_in(tiny, run({"--variant", "servers", "--variant", "ring", "--format", "json"})).out)["results"];
    REQUIRE(some.size() == 2);
    CHECK(some[0] == all[0]);  // in the file's order
    CHECK(some[1] == all[2]);
    const Outcome misspelt = run_in(tiny, run({"--variant", "rin"}));
    CHECK(misspelt.status == 3);
    CHECK(holds(misspelt.err, "unknown variant 'rin'"));
    CHECK(holds(misspelt.err, "did you mean 'ring'?"));
    CHECK(run_in(tiny, run({"--variant", "rin", "--dry-run"})).status == 3);
    // The name of the scenario may follow.
    CHECK(run_in(tiny, {"run", "--variant", "ring", "scenario.yaml", "--wide"}).status == 0);
    // The others are not even read.
    const Outcome broken = run_in(tiny, run({"--set", "variants.later.training.ranks=-1", "--variant", "ring"}));
    CHECK(broken.status == 0);
    // Neither are they for the scaling curve: the broken one does not keep the other from running on fewer ranks.
    const Outcome scaled = run_in(tiny, run({"--set", "variants.later.training.ranks=-1", "--variant", "ring",
                                             "--report", "r.html", "--scaling", "--wide"}));
    CHECK(scaled.status == 0);
    CHECK_FALSE(holds(read_file(tiny.path() / "r.html"), "Not simulated"));
}

TEST_CASE("run: --variant leaves out the expectations of the others", "[memory]") {
    const TinyFiles tiny;
    tiny.write("expect.yaml", std::string(tiny_scenario) +
                                  "expect:\n"
                                  "  - {variant: ring, field: ranks, value: 4, tolerance: 0, source: the scenario}\n"
                                  "  - {variant: later, field: ranks, value: 5, tolerance: 0, source: nobody}\n");
    CHECK(run_in(tiny, {"run", "expect.yaml", "--check"}).status == 1);
    const Outcome one = run_in(tiny, {"run", "expect.yaml", "--check", "--variant", "ring"});
    CHECK(one.status == 0);
    CHECK(one.err == "note: 1 of 2 expectations are skipped: --set or --variant removes their variant or size\n");
}

TEST_CASE("dry run: a reason is told once, and variants that are planned alike together", "[memory]") {
    const TinyFiles tiny;
    tiny.write("same.yaml", std::string(tiny_scenario) + "  twin: {}\n");
    const std::string text = run_in(tiny, {"run", "same.yaml", "--dry-run"}).out;
    CHECK(holds(text, "\nring, twin: two-layers, allreduce, 4 ranks\n"));
    const std::string reason = "`algorithm: ring`";
    CHECK(holds(text, reason));
    CHECK(text.find(reason) == text.rfind(reason));
}

TEST_CASE("run: --timing counts from the program's start, and its durations add up", "[memory]") {
    const TinyFiles tiny;
    const Outcome outcome = run_in(tiny, run({"--timing"}));
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.ends_with(" s)\n"));
    std::istringstream stream(outcome.err);
    double at_s = 0, sum_s = 0;
    int number = 0;
    for (std::string line; std::getline(stream, line); ++number) {
        CAPTURE(line);
        REQUIRE(line.starts_with("timing: "));
        const double now_s = std::stod(line.substr(8));
        CHECK(now_s >= at_s);
        at_s = now_s;
        sum_s += std::stod(line.substr(line.rfind('(') + 1));
        CHECK(sum_s == Approx(at_s).margin(0.001 * (number + 1)));  // each is rounded to a millisecond
    }
    CHECK(number == 1 + 3 * 2 + 1);  // read; for each variant the first message and the end; written
    CHECK(holds(outcome.err, "ring: first message"));
    CHECK(holds(outcome.err, "results written"));
}

TEST_CASE("topology: a terminal shows a step that takes more than a second, and clears it") {
    const TempDir directory;
    const std::vector<std::string> large{"topology", "dragonfly", "--set", "hosts=60000"};
    const Outcome piped = run_program({.arguments = large, .directory = directory.path(), .limit_s = 100});
    CHECK(piped.status == 0);
    CHECK(holds(piped.err, "note: "));
    CHECK(piped.err.find('\x1b') == std::string::npos);
    const Outcome shown =
        run_program({.arguments = large, .directory = directory.path(), .err = Stderr::terminal, .limit_s = 100});
    CHECK(shown.out == piped.out);
    const bool drawn = shown.err.find('\x1b') != std::string::npos;
    if (shown.seconds > 3) CHECK(drawn);  // either building or measuring took a second
    if (drawn) {
        CHECK(holds(shown.err, "ing dragonfly: "));
        CHECK(shown.err.rfind("\r\x1b[K") + 1 == shown.err.rfind('\x1b'));  // the last line is cleared
    }
}

TEST_CASE("misspelt options and words get a suggestion", "[memory]") {
    const TinyFiles tiny;
    const auto error_of = [&](const std::vector<std::string>& arguments) {
        const Outcome outcome = run_in(tiny, arguments);
        CHECK(outcome.status == 2);
        CHECK(outcome.out.empty());
        return outcome.err;
    };
    CHECK(error_of({"run", "scenario.yaml", "--varian", "ring"}) ==
          "error: unknown option '--varian'\n  hint: did you mean '--variant'?\n");
    CHECK(holds(error_of({"run", "scenario.yaml", "--dryrun=1"}), "did you mean '--dry-run'?"));
    CHECK(holds(error_of({"results", "merge", "a", "--out", "b", "--partal"}), "did you mean '--partial'?"));
    CHECK(holds(error_of({"run", "scenario.yaml", "--zzzzzzzz"}), "hint: `syncline run --help` lists all options"));
    CHECK(holds(error_of({"schema", "platfrom"}), "did you mean 'platform'?"));
    CHECK(holds(error_of({"topology", "ring", "--format", "svgg"}), "did you mean 'svg'?"));
}

TEST_CASE("help: `help VERB` is `VERB --help`", "[memory]") {
    const auto out = [](std::vector<std::string> arguments) {
        const Outcome outcome = run_program({.arguments = std::move(arguments)});
        CHECK(outcome.status == 0);
        CHECK(outcome.err.empty());
        return outcome.out;
    };
    CHECK(out({"help"}) == out({"--help"}));
    CHECK(out({"help", "run"}) == out({"run", "--help"}));
    CHECK(out({"help", "results", "merge"}) == out({"results", "merge", "--help"}));
    const Outcome unknown = run_program({.arguments = {"help", "rnu"}});
    CHECK(unknown.status == 2);
    CHECK(holds(unknown.err, "did you mean 'run'?"));
}

TEST_CASE("topology: shapes that need a key say what they assume, or how to give it", "[memory]") {
    const TempDir directory;
    for (const char* shape : {"rails", "hierarchical"}) {
        const Outcome outcome = run_in(directory, {"topology", shape, "--format", "json"});
        CHECK(outcome.status == 0);
        CHECK(holds(outcome.err, std::string("note: `") + shape + "` alone means --set '"));
        CHECK(json::parse(outcome.out)["hosts"] == 16);
    }
    CHECK(run_in(directory, {"topology", "rails", "--set", "rails=2"}).err.empty());
    const Outcome graph = run_in(directory, {"topology", "graph"});
    CHECK(graph.status == 3);
    CHECK(holds(graph.err, "--set 'edges=[{from: a, to: b}, {from: b, to: c}]'"));
    CHECK(run_in(directory, {"topology", "graph", "--set", "edges=[{from: a, to: b}, {from: b, to: c}]"}).status == 0);
}

TEST_CASE("results: --report prints rows only if a format is asked for, and headings have no units", "[memory]") {
    const StudyBench bench(3);
    REQUIRE(run_program(bench.batch()).status == 0);
    const Outcome quiet = run_in(bench, {"results", "out", "--report", "a.html"});
    CHECK(quiet.status == 0);
    CHECK(quiet.out.empty());
    CHECK(quiet.err == "a.html: a report of 3 rows\n");
    const std::string table = run_in(bench, {"results", "out"}).out;
    CHECK(holds(table, "completion time"));
    CHECK_FALSE(holds(table, "_s"));
    CHECK(holds(run_in(bench, {"results", "out", "--format", "csv"}).out, "completion_time_s"));
}

TEST_CASE("help: options after a verb do not matter", "[memory]") {
    CHECK(run_program({.arguments = {"help", "run", "--format"}}).out ==
          run_program({.arguments = {"run", "--help"}}).out);
}

TEST_CASE("run: a report that cannot be written is an error before anything is simulated", "[memory]") {
    const TinyFiles tiny;
    const Outcome outcome = run_in(tiny, run({"--report", "."}));
    CHECK(outcome.status == 4);
    CHECK(outcome.out.empty());
    CHECK(holds(outcome.err, "directory"));
}

TEST_CASE("topology: a shape that has more hosts than were asked for says so", "[memory]") {
    const Outcome fat = run_program({.arguments = {"topology", "fat-tree", "--set", "hosts=20", "--format", "json"}});
    CHECK(fat.status == 0);
    CHECK(nlohmann::json::parse(fat.out)["hosts"] > 20);
    CHECK(holds(fat.err, "the next size that has room for 20"));
    CHECK(run_program({.arguments = {"topology", "ring", "--set", "hosts=20"}}).err.empty());
}
