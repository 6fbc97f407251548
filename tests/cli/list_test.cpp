#include <sys/stat.h>
#include <algorithm>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// The verbs list and where, and $SYNCLINE_DATA.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

Outcome ask_at(const fs::path& directory, std::vector<std::string> arguments) {
    return run_program({.arguments = std::move(arguments), .directory = directory});
}

}  // namespace

TEST_CASE("list: every shipped file is listed with one line that says what it is", "[memory]") {
    const TempDir empty;
    const std::vector<std::pair<std::string, std::vector<std::string>>> lists{
        {"platforms", {"platforms"}},
        {"workloads", {"workloads"}},
        {"topologies", {"topologies"}},
        {"scenarios", {"scenarios", "scenarios/lessons"}},
        {"published", {"scenarios/published"}},
        {"studies", {"scenarios/studies"}},
        {"transports", {"platforms/transports"}},
        {"devices", {"platforms/devices"}},
        {"selections", {"platforms/selections"}},
        {"ablations", {"scenarios/ablations"}},
        {"frameworks", {"scenarios/frameworks"}},
    };
    for (const auto& [list, folders] : lists) {
        CAPTURE(list);
        std::set<std::string> files;
        for (const std::string& folder : folders)
            for (const auto& entry : fs::directory_iterator(shipped(folder)))
                if (entry.path().extension() == ".yaml") files.insert(entry.path().stem().string());
        std::set<std::string> names;
        std::istringstream lines(ask_at(empty.path(), {"list", list}).out);
        std::string head;
        std::getline(lines, head);
        CHECK(head.starts_with("name "));
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            const std::size_t end = line.find(' ');
            REQUIRE(end != line.npos);
            names.insert(line.substr(0, end));
            CHECK(line.size() > line.find_first_not_of(' ', end) + 10);
            CHECK(std::count(line.begin(), line.end(), '(') == std::count(line.begin(), line.end(), ')'));
        }
        CHECK(names == files);
        std::istringstream short_lines(ask_at(empty.path(), {"list", list, "--names"}).out);
        for (std::string line; std::getline(short_lines, line);) CHECK(names.erase(line) == 1);
        CHECK(names.empty());
    }
    CHECK(ask_at(empty.path(), {"list", "lessons"}).out.find("\nring-allreduce     Why does a ring") !=
          std::string::npos);
    CHECK(ask_at(empty.path(), {"list", "platfroms"}).status == 2);
}

TEST_CASE("list: keys of a scenario, columns of results, what-ifs, and variants of a scenario") {
    const TempDir folder;
    folder.write("own.yaml", "variants: {slow: {}, 'two words': {}}\nplatform: none\n");
    const auto names = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "list");
        arguments.emplace_back("--names");
        const Outcome outcome = ask_at(folder.path(), std::move(arguments));
        CHECK(outcome.status == 0);
        CHECK(outcome.err.empty());
        return outcome.out;
    };
    CHECK_THAT(names({"keys"}), ContainsSubstring("\ntraining.parallelism.pipeline.micro_batches\n") &&
                                    ContainsSubstring("\nplatform.fabric.bandwidth\n"));
    CHECK_THAT(ask_at(folder.path(), {"list", "keys"}).out, ContainsSubstring("Number of ranks (workers)"));
    CHECK_THAT(names({"columns"}), ContainsSubstring("\niteration_time_s\n") &&
                                       ContainsSubstring("\nbus_bandwidth_Bps\n") && ContainsSubstring("\nmfu\n"));
    // Each can be asked for.
    std::istringstream changes(names({"what-ifs"}));
    std::vector<std::string> explain{"explain", "none"};
    for (std::string change; std::getline(changes, change);) explain.insert(explain.end(), {"--what-if", change});
    CHECK(explain.size() > 10);
    CHECK_THAT(ask_at(folder.path(), explain).err, ContainsSubstring("'none' is neither a file"));
    // Shells give all words of a command: the first that is a scenario counts.
    CHECK(names({"variants", "own.yaml"}) == "slow\ntwo words\n");
    CHECK(names({"variants", "run", "nothing.yaml", "own.yaml", "zhang-2021"}) == "slow\ntwo words\n");
    CHECK_THAT(names({"variants", "zhang-2021"}), ContainsSubstring("parameter-server\n"));
    CHECK(names({"variants", "run"}).empty());
    const Outcome nothing = ask_at(folder.path(), {"list", "variants", "nothing"});
    CHECK(nothing.status == 2);
    CHECK_THAT(nothing.err, ContainsSubstring("there is no scenario 'nothing'"));
    CHECK(ask_at(folder.path(), {"list", "keys", "own.yaml"}).status == 2);
}

TEST_CASE("where: a name means a file here, of SYNCLINE_DATA, or of the clone", "[memory]") {
    const TempDir folder;
    const auto where = [&](const std::string& name) { return ask_at(folder.path(), {"where", name}); };
    unsetenv("SYNCLINE_DATA");
    CHECK(where("p100-25g").out == shipped("platforms/p100-25g.yaml") + "\n");
    const fs::path second = folder.write("b/platforms/p100-25g.yaml", "# Second.\nname: b\n");
    setenv("SYNCLINE_DATA", ("::/nowhere:a:" + (folder / "b").string()).c_str(), 1);
    CHECK(where("p100-25g").out == second.string() + "\n");
    const fs::path first = folder.write("a/platforms/p100-25g.yaml", "# First, by J. Doe et al. Really.\nname: a\n");
    CHECK(where("p100-25g").out == first.string() + "\n");
    CHECK(
        ask_at(folder.path(), {"list", "platforms"}).out.find("p100-25g          First, by J. Doe et al. Really.\n") !=
        std::string::npos);
    const fs::path here = folder.write("platforms/p100-25g.yaml", "name: here\n");
    CHECK(where("p100-25g").out == here.string() + "\n");
    CHECK(where("platforms/p100-25g.yaml").out == here.string() + "\n");
    folder.write("p100-25g", "name: exactly\n");
    CHECK(where("p100-25g").out == (folder / "p100-25g").string() + "\n");

    const Outcome unknown = where("p100-25gg");
    CHECK(unknown.status == 3);
    CHECK(unknown.err.find("did you mean 'p100-25g'?") != std::string::npos);
    CHECK(unknown.err.find("SYNCLINE_DATA names /nowhere, which has no folder platforms") != std::string::npos);
    CHECK(where("missing.yaml").status == 3);
}

TEST_CASE("list: what is no regular file is passed over, and never opened") {
    const TempDir folder;
    const std::vector<std::pair<std::string, std::string>> lists{
        {"platforms", "platforms"},         {"workloads", "workloads"},       {"topologies", "topologies"},
        {"scenarios", "scenarios/lessons"}, {"studies", "scenarios/studies"}, {"devices", "platforms/devices"}};
    for (const auto& [list, place] : lists) {
        folder.write(place + "/good.yaml", "# A good one. And more.\nname: good\n");
        fs::create_symlink(folder / place / "good.yaml", folder / place / "linked.yaml");
        REQUIRE(mkfifo((folder / place / "no-pipe.yaml").c_str(), 0600) == 0);
        fs::create_symlink("/dev/zero", folder / place / "no-zero.yaml");
        fs::create_symlink("/dev/tty", folder / place / "no-terminal.yaml");
        fs::create_symlink("nowhere", folder / place / "no-dangling.yaml");
        fs::create_symlink("no-loop.yaml", folder / place / "no-loop.yaml");
        fs::create_directory(folder / place / "no-directory.yaml");
        // All of a file is a comment.
        folder.write(place + "/long.yaml", "# " + std::string(20'000'000, 'x') + "\n");
    }
    folder.write("scenarios/lessons/01-good.md", read_file(shipped("scenarios/lessons/02-ring-allreduce.md")));
    folder.write("scenarios/lessons/01-good.yaml", "name: good\n");
    REQUIRE(mkfifo((folder / "scenarios/lessons/02-pipe.md").c_str(), 0600) == 0);
    for (const auto& [list, place] : lists) {
        CAPTURE(list);
        const Outcome names = ask_at(folder.path(), {"list", list, "--names"});
        CHECK(names.status == 0);
        CHECK_THAT("\n" + names.out, ContainsSubstring("\ngood\n") && ContainsSubstring("\nlinked\n"));
        const Outcome all = ask_at(folder.path(), {"list", list});
        CHECK(all.status == 0);
        CHECK_THAT(all.out, ContainsSubstring("A good one.") && !ContainsSubstring("And more"));
        CHECK(static_cast<double>(all.peak_kib) < 200'000 * patience);
        CHECK_THAT("\n" + names.out + all.out, !ContainsSubstring("\nno-"));
    }
    CHECK_THAT(ask_at(folder.path(), {"list", "lessons"}).out, ContainsSubstring("good"));
    // Who names one of them is told what it is.
    for (const char* special : {"platforms/no-pipe.yaml", "platforms/no-zero.yaml", "/dev/zero", "/dev/stdin"})
        for (const std::vector<std::string>& arguments :
             {std::vector<std::string>{"run", special},
              {"check", special},
              {"batch", special, "--out", "out"},
              {"validate", special},
              {"topology", special},
              {"workload", special, "--device", "p100-sxm2", "--batch", "1"},
              {"run", "zhang-2021", "--set", std::string("platform=") + special}}) {
            const Outcome outcome = ask_at(folder.path(), arguments);
            CAPTURE(special, arguments[0], outcome.err);
            CHECK(outcome.status == 3);
            CHECK_THAT(outcome.err, ContainsSubstring("' is not a regular file"));
        }
    // A pipe in place of results.
    fs::create_directory(folder / "out");
    REQUIRE(mkfifo((folder / "out/results.db").c_str(), 0600) == 0);
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"results", "out"}, {"batch", "zhang-2021", "--out", "out"}}) {
        const Outcome outcome = ask_at(folder.path(), arguments);
        CAPTURE(arguments[0], outcome.err);
        CHECK(outcome.status == 4);
        CHECK_THAT(outcome.err, ContainsSubstring("out/results.db is not a regular file"));
    }
}

TEST_CASE("batch: a directory of results may have the study's name", "[memory]") {
    const TempDir folder;
    const Outcome dry = ask_at(folder.path(), {"batch", "allreduce", "--dry-run"});
    CHECK(dry.status == 0);
    folder.write("allreduce/results.db", "");
    CHECK(ask_at(folder.path(), {"batch", "allreduce", "--dry-run"}).out == dry.out);
}

TEST_CASE("where: a name of two kinds is told, and --kind chooses", "[memory]") {
    const TempDir folder;
    folder.write("platforms/net.yaml", "name: net\n");
    folder.write("topologies/net.yaml", "shape: ring\n");
    const Outcome both = ask_at(folder.path(), {"where", "net"});
    CHECK(both.status == 0);
    CHECK(both.err == "note: 'net' is the name of a platform\nnote: 'net' is the name of a topology\n");
    CHECK(both.out ==
          (folder / "platforms/net.yaml").string() + "\n" + (folder / "topologies/net.yaml").string() + "\n");
    const Outcome one = ask_at(folder.path(), {"where", "net", "--kind", "topology"});
    CHECK(one.out == (folder / "topologies/net.yaml").string() + "\n");
    CHECK(one.err.empty());
    CHECK(ask_at(folder.path(), {"where", "net", "--kind", "study"}).status == 3);
}
