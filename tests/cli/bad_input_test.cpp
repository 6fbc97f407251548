#include <algorithm>
#include <functional>
#include <regex>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Files that are large, random or made to exhaust the reader are errors, too. Small mistakes are in tests/cases.

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

    Outcome run(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {"run", "scenario.yaml", "--out", "out"});
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

}  // namespace

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

TEST_CASE("bad input: a circular reference under another name is an error", "[memory]") {
    const Bench bench;
    fs::create_directory_symlink(".", bench / "link");
    bench.write("linked.yaml", "link/linked.yaml\n");
    bench.write("scenario.yaml", "platform: linked.yaml\nworkload: workload.yaml\ntraining: {ranks: 2}\n");
    check_one(bench.run(), bench, "reference cycle: ", "");
}

TEST_CASE("bad input: aliases are refused, not expanded", "[memory]") {
    const Bench bench;
    // If they were expanded, this would have a billion nodes.
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

TEST_CASE("bad input: a long list of errors ends with the number of the others", "[memory]") {
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

TEST_CASE("bad input: a key that is a very long path is refused quickly", "[memory]") {
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

TEST_CASE("bad input: a large file is also refused as platform or workload", "[memory]") {
    const Bench bench;
    bench.scenario("ranks: 2");
    bench.write("platform.yaml", std::string(50'000'000, '['));
    check_one(bench.run(), bench, "scenario.yaml:1:11: error: 'platform.yaml' is too large", "MiB");
}

TEST_CASE("bad input: a long line is cut to a window around the error", "[memory]") {
    const Bench bench;
    bench.scenario("ranks: 2",
                   "description: " + std::string(100'000, 'x') + "\nname: [" + std::string(50'000, 'y') + "]\n");
    const Outcome outcome = bench.run();
    check_one(outcome, bench, "'name' is a list", "");
    CHECK(outcome.err.size() < 1000);
}
