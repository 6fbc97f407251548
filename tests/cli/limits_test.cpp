#include <unistd.h>

#include <csignal>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"

// If the system refuses room, permission or descriptors, the error has the file and the reason, and nothing is half
// written.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Runs the program in `bench` where `directory` is read-only: by its mode or, since modes do not bind root, by a mount
/// that only the program sees. Returns nothing if this system does not allow it.
std::optional<Outcome> without_writing(const TempDir& bench, const std::string& directory,
                                       const std::string& arguments) {
    if (geteuid() != 0) {
        fs::permissions(bench / directory, fs::perms::owner_write, fs::perm_options::remove);
        const Outcome outcome = run_program({.arguments = {"-c", "exec \"" SYNCLINE_PROGRAM "\" " + arguments},
                                             .program = "/bin/sh",
                                             .directory = bench.path()});
        fs::permissions(bench / directory, fs::perms::owner_write, fs::perm_options::add);
        return outcome;
    }
    const std::string script = "mount --bind " + directory + " " + directory + " && mount -o remount,bind,ro " +
                               directory + " || exit 125; exec \"" SYNCLINE_PROGRAM "\" " + arguments;
    const Outcome outcome = run_program(
        {.arguments = {"-m", "/bin/sh", "-c", script}, .program = "/usr/bin/unshare", .directory = bench.path()});
    if (outcome.status >= 125 || holds(outcome.err, "unshare")) return {};
    return outcome;
}

constexpr const char* search = " study.yaml --out out --objective completion_time_s";

}  // namespace

TEST_CASE("limits: a disk that is full at any moment ends a batch with the reason, and the rest can follow") {
    const StudyBench alone(40);
    REQUIRE(run_program(alone.batch()).status == 0);
    const auto expected = content(alone / "out");
    const auto most = static_cast<rlim_t>(fs::file_size(alone / "out/results.db"));
    int failed = 0;
    for (const rlim_t bytes : {rlim_t{0}, rlim_t{1000}, rlim_t{4096}, most / 4, most / 2, most / 4 * 3, most + 4096}) {
        const StudyBench bench(40);
        const bool explores = bytes == most / 2;
        Invocation batch = bench.batch();
        if (explores) batch.arguments = {"explore", "study.yaml", "--out", "out", "--objective", "completion_time_s"};
        {
            const Limit disk(RLIMIT_FSIZE, bytes);
            const Outcome outcome = run_program(batch);
            CAPTURE(bytes, outcome.err);
            CHECK((outcome.status == 4 || (outcome.status == 0 && bytes > most)));
            if (outcome.status == 4) {
                ++failed;
                CHECK_THAT(outcome.err, ContainsSubstring("out/results.") && ContainsSubstring("File too large"));
            }
        }
        for (const std::string& name : bench.list()) CHECK_THAT(name, !ContainsSubstring(".tmp"));
        const Outcome again = run_program(bench.batch());
        CAPTURE(bytes, again.err);
        CHECK(again.status == 0);
        CHECK(content(bench / "out") == expected);
    }
    CHECK(failed >= 6);
}

TEST_CASE("limits: a directory that is read-only is named with the reason, and can be read", "[memory]") {
    const StudyBench bench(3);
    REQUIRE(run_program(bench.batch()).status == 0);
    fs::create_directories(bench / "empty");
    const std::vector<std::string> before = bench.list();
    struct Case {
        const char *directory, *arguments, *file;
    };
    const std::string explore = std::string("explore") + search;
    for (const Case& one :
         {Case{"out", "batch study.yaml --out out", "out/results.db"}, Case{"out", explore.c_str(), "out/results.db"},
          Case{"empty", "batch study.yaml --out empty", "empty/results.db"},
          Case{"empty", "batch study.yaml --out empty/new", "empty/new"},
          Case{"empty", "results merge out -o empty", "empty"},
          Case{"empty", "results out --report empty/page.html", "empty/page.html"}}) {
        const auto outcome = without_writing(bench, one.directory, one.arguments);
        if (!outcome) {
            WARN("skipped: root may not mount here");
            return;
        }
        CAPTURE(one.arguments, outcome->err);
        // A store whose file may be written in a directory that may not cannot have its journal.
        CHECK(outcome->status == 4);
        CHECK_THAT(outcome->err, ContainsSubstring(one.file) &&
                                     (ContainsSubstring("ead-only") || ContainsSubstring("ermission denied")));
        CHECK(bench.list() == before);
    }
    const auto read = without_writing(bench, "out", "results out --format csv");
    REQUIRE(read);
    CHECK(read->status == 0);
    CHECK(read->out == read_file(bench / "out/results.csv"));
}

TEST_CASE("limits: too few descriptors are no bug of the program") {
#if !defined(SYNCLINE_SANITIZED)  // the sanitizer writes a file, too
    const StudyBench bench(3);
    REQUIRE(run_program(bench.batch()).status == 0);
    for (int descriptors = 4; descriptors <= 12; ++descriptors)
        for (const std::string& arguments :
             {std::string("batch study.yaml --out new --jobs 2"), std::string("run exchange.yaml"),
              std::string("explore study.yaml --out new --objective completion_time_s"), std::string("results out"),
              std::string("plot out --x bytes --y completion_time_s --out picture.svg")}) {
            fs::remove_all(bench / "new");
            const std::string script =
                "ulimit -n " + std::to_string(descriptors) + "; exec \"" SYNCLINE_PROGRAM "\" " + arguments;
            const Outcome outcome =
                run_program({.arguments = {"-c", script}, .program = "/bin/sh", .directory = bench.path()});
            CAPTURE(script, outcome.err);
            if (outcome.status == 127) continue;  // the loader needs more
            CHECK((outcome.status == 0 || outcome.status == 1 || outcome.status == 4));
            if (outcome.status != 0)
                CHECK_THAT(outcome.err, ContainsSubstring("error: ") && ContainsSubstring("oo many open files"));
            CHECK_FALSE(outcome.left_behind);
        }
#endif
}

TEST_CASE("limits: control characters in keys and names are errors at their place", "[memory]") {
    const StudyBench bench(2);
    for (const char* axis : {R"("collective.bytes\0x": [1 kB, 2 kB])", R"("platform.\"a\0b\"": [1, 2])",
                             R"("a\0b": [1])", R"("collective.bytes\e[1m": [1 kB])"}) {
        bench.write("study.yaml", std::string("base: exchange.yaml\naxes:\n  ") + axis + "\n");
        for (const char* verb : {"batch", "explore", "check"}) {
            std::vector<std::string> arguments{verb, "study.yaml"};
            if (std::string(verb) != "check") arguments.insert(arguments.end(), {"--out", "out"});
            const Outcome outcome = run_in(bench, arguments);
            CAPTURE(axis, verb, outcome.err);
            CHECK(outcome.status == 3);
            CHECK_THAT(outcome.err, ContainsSubstring("study.yaml:3:") && ContainsSubstring(": error: ") &&
                                        !ContainsSubstring("\x1b"));
        }
    }
    bench.write("study.yaml", StudyBench::study(2));
    bench.write("named.yaml", std::string(small_exchange) + "variants:\n  \"a\\0b\": {}\n");
    CHECK(run_in(bench, {"batch", "named.yaml", "--out", "out"}).status == 3);
    CHECK(run_in(bench, {"batch", "study.yaml", "--out", "out", "--set", "platform.\"a\\0b\"=1"}).status == 3);
    CHECK(run_in(bench, {"batch", "study.yaml", "--out", "out", "--set", "platform.a\x01=1"}).status == 3);
    CHECK_FALSE(fs::exists(bench / "out"));
    const Outcome limit = run_in(bench, {"results", "out", "--limit", "-1"});
    CHECK(limit.status == 2);
    CHECK_THAT(limit.err, ContainsSubstring("'-1' is not a whole number from 0"));
}
