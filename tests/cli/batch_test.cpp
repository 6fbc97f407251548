#include <csignal>
#include <future>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"
#include "tests/sanitized.hpp"

// Tests the verb `batch`: its options, its exit codes, and that the failure of one point is not that of the batch.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// Two points: one takes a moment, the other a minute.
struct LongBench : TempDir {
    LongBench() {
        write("platform.yaml", tiny_platform);
        write("workload.yaml", tiny_workload);
        write("scenario.yaml", R"(platform: platform.yaml
workload: workload.yaml
training: {ranks: 16, batch_per_rank: 8, input_copy: none, iterations: 2, partition: 20 kB}
)");
        write("study.yaml", "base: scenario.yaml\naxes:\n  training.iterations: [2, 10000]\n");
    }

    Invocation batch(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {"batch", "study.yaml", "--out", "out"});
        return {.arguments = std::move(options), .directory = path()};
    }
};

/// Returns the program's workers once the batch waits for some: those of the last 0.3 s, or of a longer time on a
/// machine that is slow with the first point, too.
std::vector<pid_t> lasting_workers() {
    for (int i = 0; i < 500; ++i) {
        for (const pid_t program : children_of(getpid())) {
            const std::vector<pid_t> workers = children_of(program);
            if (workers.empty()) continue;
            std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(300 * patience)));
            if (children_of(program) == workers) return workers;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return {};
}

std::string status_of(const fs::path& directory, int number) {
    return value(directory,
                 "SELECT status FROM points JOIN runs USING (run_id) WHERE number = " + std::to_string(number));
}

std::string message_of(const fs::path& directory, int number) {
    return value(directory,
                 "SELECT message FROM points JOIN runs USING (run_id) WHERE number = " + std::to_string(number));
}

}  // namespace

TEST_CASE("batch: every point is simulated once, and the same batch again simulates nothing") {
    const StudyBench bench(8);
    const Outcome first = run_program(bench.batch({"--jobs", "3"}));
    CAPTURE(first.err);
    REQUIRE(first.status == 0);
    CHECK(first.out.empty());
    CHECK(holds(first.err, "8 points: 8 done (0 before), 0 failed; results in out/results.csv"));
    CHECK(value(bench / "out", "SELECT count(*) FROM attempts WHERE status = 'done'") == "8");
    const auto before = content(bench / "out");
    const std::string csv = read_file(bench / "out/results.csv");

    const Outcome again = run_program(bench.batch({"--resume"}));
    CHECK(again.status == 0);
    CHECK(holds(again.err, "8 points: 8 done (8 before), 0 failed"));
    CHECK(value(bench / "out", "SELECT count(*) FROM attempts") == "8");
    CHECK(content(bench / "out") == before);
    CHECK(read_file(bench / "out/results.csv") == csv);

    // Only an additional point is left to run. Without --resume the output mentions earlier results.
    bench.write("study.yaml", StudyBench::study(9));
    const Outcome more = run_program(bench.batch());
    CHECK(more.status == 0);
    CHECK(holds(more.err, "note: out already has results: 8 of 9 points are done"));
    CHECK(holds(more.err, "9 points: 9 done (8 before)"));
    CHECK(value(bench / "out", "SELECT count(*) FROM attempts") == "9");
}

TEST_CASE("batch: a stored result equals what the program prints for the run, seed included", "[memory]") {
    const StudyBench bench(3);
    REQUIRE(run_program(bench.batch()).status == 0);
    const Outcome alone = run_in(bench, {"collective", "--platform", "platform.yaml", "--ranks", "16", "--bytes",
                                         "2 kB", "--algorithm", "ring", "--format", "json"});
    REQUIRE(alone.status == 0);
    const std::string kept =
        value(bench / "out", "SELECT result FROM points JOIN runs USING (run_id) WHERE number = 2");
    json expected = json::parse(alone.out);
    expected.erase("schema_version");
    CHECK(json::parse(kept) == expected);
    CHECK(kept.find('\n') == std::string::npos);
}

TEST_CASE("batch: results do not depend on jobs and shards") {
    const StudyBench bench(10);
    REQUIRE(run_program(bench.batch({"--jobs", "1"})).status == 0);
    const auto expected = content(bench / "out");
    Invocation wide = bench.batch({"--jobs", "7"});
    wide.arguments[3] = "wide";
    REQUIRE(run_program(wide).status == 0);
    CHECK(content(bench / "wide") == expected);

    std::vector<std::string> merge{"results", "merge"};
    for (int i = 1; i <= 4; ++i) {
        Invocation shard = bench.batch({"--shard", std::to_string(i) + "/4"});
        shard.arguments[3] = "parts";
        REQUIRE(run_program(shard).status == 0);
        merge.push_back("parts/shard-" + std::to_string(i) + "-of-4");
        CHECK(value(bench / merge.back(), "SELECT count(*) FROM points") == (i <= 2 ? "3" : "2"));
    }
    merge.insert(merge.end(), {"-o", "merged"});
    const Outcome merged = run_in(bench, merge);
    CAPTURE(merged.err);
    REQUIRE(merged.status == 0);
    CHECK(content(bench / "merged") == expected);
}

TEST_CASE("batch: a merge that lacks shards is refused unless it may be partial, and says which") {
    const StudyBench bench(3);
    const auto shard = [&](const std::string& part) {
        Invocation one = bench.batch({"--shard", part});
        one.arguments[3] = "parts";
        REQUIRE(run_program(one).status == 0);
    };
    for (const char* part : {"1/5", "3/5", "4/5"}) shard(part);  // the fourth and the fifth have no points
    const std::vector<std::string> merge{"results", "merge", "parts/shard-1-of-5", "parts/shard-3-of-5",
                                         "parts/shard-4-of-5"};
    const auto merged = [&](std::vector<std::string> from, std::vector<std::string> options) {
        from.insert(from.end(), options.begin(), options.end());
        return run_in(bench, from);
    };
    const Outcome refused = merged(merge, {"-o", "merged"});
    CAPTURE(refused.err);
    CHECK(refused.status == 1);
    CHECK(holds(refused.err, "the study 'study' lacks shards 2, 5 of 5; nothing has been written"));
    CHECK(holds(refused.err, "--partial"));
    CHECK_FALSE(fs::exists(bench / "merged"));

    const Outcome partial = merged(merge, {"-o", "some", "--partial"});
    CAPTURE(partial.err);
    CHECK(partial.status == 0);
    CHECK(holds(partial.err, "note: the study 'study' lacks shards 2, 5 of 5"));
    CHECK(value(bench / "some", "SELECT count(*) FROM points") == "2");

    // The merged store knows that it lacks them, until they come.
    shard("2/5");
    const std::vector<std::string> more{"results", "merge", "some", "parts/shard-2-of-5"};
    CHECK(holds(merged(more, {"-o", "more"}).err, "lacks shard 5 of 5"));
    shard("5/5");
    CHECK(merged(more, {"parts/shard-5-of-5", "-o", "all"}).status == 0);
    REQUIRE(run_program(bench.batch()).status == 0);
    CHECK(content(bench / "all") == content(bench / "out"));
    // A batch of all points lacks nothing, and another number of shards may have it all.
    CHECK(merged({"results", "merge", "out", "some"}, {"-o", "whole"}).status == 0);
    for (const char* part : {"1/2", "2/2"}) shard(part);
    CHECK(merged({"results", "merge", "some", "parts/shard-1-of-2", "parts/shard-2-of-2"}, {"-o", "halves"}).status ==
          0);
}

TEST_CASE("batch: a task of a Slurm array is a shard, unless --shard is given", "[memory]") {
    const StudyBench bench(8);
    for (const auto& [name, text] : std::map<std::string, std::string>{
             {"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_MIN", "3"}, {"SLURM_ARRAY_TASK_COUNT", "4"}})
        setenv(name.c_str(), text.c_str(), 1);
    const Outcome task = run_program(bench.batch());
    const Outcome given = run_program(bench.batch({"--shard", "1/1"}));
    for (const char* name : {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"}) unsetenv(name);
    CHECK(task.status == 0);
    CHECK(query(bench / "out/shard-3-of-4", "SELECT number FROM points ORDER BY number") ==
          std::vector<Line>{{"3"}, {"7"}});
    CHECK(given.status == 0);
    CHECK(value(bench / "out", "SELECT count(*) FROM points") == "8");
}

TEST_CASE("batch: a point that hangs fails at its timeout, the others run, and it can be retried", "[memory]") {
    const LongBench bench;
    // The first point may take seconds under sanitizers, on a busy machine.
    const std::string limit = fmt::format("{} s", 3 * patience);
    const std::vector<std::string> hasty{"--timeout", limit, "--jobs", "2"};
    const Outcome outcome = run_program(bench.batch(hasty));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(holds(outcome.err, "2 points: 1 done (0 before), 1 failed"));
    CHECK(holds(outcome.err, "training.iterations=10000"));
    CHECK(holds(outcome.err, "took longer than --timeout " + limit));
    CHECK(status_of(bench / "out", 1) == "done");
    CHECK(message_of(bench / "out", 2) == "took longer than --timeout " + limit);
    CHECK_FALSE(someone_is_in(bench.path()));

    const Outcome resumed = run_program(bench.batch({"--resume"}));
    CHECK(resumed.status == 1);  // is not retried, and has still failed
    CHECK(value(bench / "out", "SELECT count(*) FROM attempts") == "2");
    std::vector<std::string> retry = hasty;
    retry.emplace_back("--retry-failed");
    CHECK(run_program(bench.batch(retry)).status == 1);
    CHECK(value(bench / "out", "SELECT count(*) FROM attempts") == "3");
    CHECK(value(bench / "out", "SELECT count(*) FROM attempts WHERE status = 'done'") == "1");
}

TEST_CASE("batch: a killed worker is a failed point, and the batch continues", "[memory]") {
    const LongBench bench;
    auto running = std::async(std::launch::async, [&] { return run_program(bench.batch({"--jobs", "1"})); });
    const std::vector<pid_t> workers = lasting_workers();
    for (const pid_t worker : workers) kill(worker, SIGKILL);
    const Outcome outcome = running.get();
    CHECK(workers.size() == 1);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(status_of(bench / "out", 1) == "done");
    CHECK(status_of(bench / "out", 2) == "failed");
    CHECK(holds(message_of(bench / "out", 2), "it may have run out of memory"));
    CHECK_FALSE(someone_is_in(bench.path()));
}

TEST_CASE("batch: a point that exhausts the memory is a failed point, and the batch continues") {
#if !defined(SYNCLINE_SANITIZED)
    const StudyBench bench(1);
    bench.write("study.yaml", "base: exchange.yaml\naxes:\n  collective.ranks: [4, 4000]\n");
    // Every rank has a connection to every other.
    bench.write("exchange.yaml",
                "platform: platform.yaml\n"
                "collective: {operation: all-to-all, algorithm: direct, ranks: 16, bytes: 1 MB}\n");
    std::string platform{tiny_platform};
    platform.replace(platform.find("nodes: 16"), 9, "nodes: 4000");
    bench.write("platform.yaml", platform);
    const Limit little(RLIMIT_AS, 700'000'000);
    const Outcome refused = run_program(bench.batch({"--jobs", "2"}));
    const std::string reason = message_of(bench / "out", 2);
    const Outcome outcome = run_program(bench.batch({"--jobs", "2", "--retry-failed", "--force"}));
    CAPTURE(refused.err, outcome.err);
    CHECK(refused.status == 1);
    CHECK(status_of(bench / "out", 1) == "done");
    // 4000 ranks with 3999 messages each way, of 250 B and more.
    CHECK(holds(reason, "`--retry-failed --force` simulates it anyway"));
    CHECK(holds(reason, "needs about 12 GB of memory, more than 80 % of the 700 MB of this machine"));
    CHECK(outcome.status == 1);
    CHECK(status_of(bench / "out", 2) == "failed");
    CHECK(holds(message_of(bench / "out", 2), "the simulation needs more memory than is available"));
#endif
}

TEST_CASE("batch: Ctrl-C keeps finished runs, reports the progress, and leaves no process behind") {
    const LongBench bench;
    const To to = GENERATE(To::program, To::group);
    const int number = GENERATE(SIGINT, SIGTERM);
    Invocation batch = bench.batch({"--jobs", "2"});
    batch.signal = Signal{number, 3 * patience, to};
    const Outcome outcome = run_program(batch);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 130);
    CHECK(outcome.after_signal_s < too_late_s);
    CHECK(holds(outcome.err, "interrupted: 1 of 2 points are done; continue with --resume"));
    CHECK_FALSE(someone_is_in(bench.path()));
    CHECK(status_of(bench / "out", 1) == "done");
    CHECK(status_of(bench / "out", 2) == "pending");
    CHECK(fs::exists(bench / "out/results.csv"));
    CHECK(fs::exists(bench / "out/results.jsonl"));
}

TEST_CASE("batch: a signal to the whole job that reaches workers first fails no point", "[memory]") {
    const LongBench bench;
    auto running = std::async(std::launch::async, [&] { return run_program(bench.batch({"--jobs", "1"})); });
    const std::vector<pid_t> workers = lasting_workers();
    for (const pid_t worker : workers) kill(worker, SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::vector<pid_t> programs;
    for (int i = 0; i < 100 && programs.empty(); ++i) programs = children_of(getpid());  // /proc may change
    for (const pid_t program : programs) kill(program, SIGTERM);
    const Outcome outcome = running.get();
    CHECK(workers.size() == 1);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 130);
    CHECK(status_of(bench / "out", 1) == "done");
    CHECK(status_of(bench / "out", 2) == "pending");
    CHECK(value(bench / "out", "SELECT count(*) FROM attempts") == "1");
    CHECK_FALSE(someone_is_in(bench.path()));
}

TEST_CASE("batch: two programs on one directory share the work, and every run is simulated once") {
    const StudyBench bench(60), alone(60);
    REQUIRE(run_program(alone.batch()).status == 0);
    const auto other = std::async(std::launch::async, [&] { return run_program(bench.batch({"--jobs", "2"})); });
    const Outcome one = run_program(bench.batch({"--jobs", "2"}));
    other.wait();
    CAPTURE(one.err);
    CHECK(one.status == 0);
    CHECK(content(bench / "out") == content(alone / "out"));
    CHECK(value(bench / "out", "SELECT count(*) FROM attempts") == "60");
    CHECK(value(bench / "out", "SELECT count(DISTINCT run_id) FROM attempts") == "60");
    CHECK(read_file(bench / "out/results.csv") == read_file(alone / "out/results.csv"));
}

TEST_CASE("batch: points that do not fit stop the batch before it writes anything, or fail alone", "[memory]") {
    const StudyBench bench(1);
    bench.write("study.yaml", "base: exchange.yaml\naxes:\n  collective.ranks: [2, 17, 4, 18]\n");
    const Outcome refused = run_program(bench.batch());
    CAPTURE(refused.err);
    CHECK(refused.status == 3);
    CHECK(holds(refused.err, "2 of 4 points do not fit"));
    // 17 and 18 fail for one reason, which is reported once; a listing has it for each.
    CHECK(
        holds(refused.err, "in 2 points, some with different numbers: (collective.ranks=17), (collective.ranks=18)\n"));
    CHECK_FALSE(holds(refused.err, "18 ranks do not fit"));
    const Outcome listed = run_program(bench.batch({"--dry-run", "--format", "csv", "--keep-going"}));
    CHECK(holds(listed.out, ",status,message\n"));
    CHECK(holds(listed.out, "18 ranks do not fit platform"));
    CHECK(holds(refused.err, "--keep-going"));
    CHECK(holds(refused.err, "exclude"));
    CHECK_FALSE(fs::exists(bench / "out"));

    const Outcome kept = run_program(bench.batch({"--keep-going"}));
    CHECK(kept.status == 1);
    CHECK(holds(kept.err, "4 points: 2 done (0 before), 2 failed"));
    CHECK(status_of(bench / "out", 2) == "failed");
    CHECK(run_program(bench.batch({"--keep-going", "--retry-failed"})).status == 1);
    CHECK(value(bench / "out", "SELECT count(*) FROM attempts WHERE status = 'done'") == "2");

    const Outcome excluded = run_program(bench.batch({"--set", "exclude=['ranks > 16']"}));
    CAPTURE(excluded.err);
    CHECK(excluded.status == 0);
    CHECK(holds(excluded.err, "2 points: 2 done (2 before), 0 failed"));
}

TEST_CASE("batch: an invalid condition is an error at its place, before anything is written", "[memory]") {
    const StudyBench bench(3, "exclude: [\"rnks > 3\"]\n");
    const Outcome outcome = run_program(bench.batch());
    CAPTURE(outcome.err);
    CHECK(outcome.status == 3);
    CHECK(holds(outcome.err, "study.yaml:4:"));
    CHECK(holds(outcome.err, "rnks"));
    CHECK_FALSE(fs::exists(bench / "out"));
}

TEST_CASE("batch: a dry run lists the points and their status, and writes nothing", "[memory]") {
    const StudyBench bench(4);
    const std::vector<std::string> before = bench.list();
    const Outcome empty = run_program(bench.batch({"--dry-run", "--format", "csv"}));
    CAPTURE(empty.err);
    REQUIRE(empty.status == 0);
    CHECK(bench.list() == before);
    CHECK(holds(empty.out, "3 kB"));
    CHECK(holds(empty.out, "pending"));
    CHECK_FALSE(holds(empty.out, "done"));

    REQUIRE(run_program(bench.batch({"--shard", "1/1"})).status == 0);
    bench.write("study.yaml", StudyBench::study(5));
    const Outcome later = run_program(bench.batch({"--dry-run", "--format", "csv"}));
    CHECK(value(bench / "out", "SELECT count(*) FROM points") == "4");
    const std::string id = value(bench / "out", "SELECT run_id FROM points WHERE number = 3");
    CHECK(holds(later.out, id + ",done"));
    CHECK(holds(later.out, ",pending"));
    for (const char* format : {"table", "json"}) {
        const Outcome listed = run_program(bench.batch({"--dry-run", "--format", format}));
        CHECK(listed.status == 0);
        CHECK(holds(listed.out, id));
    }
}

TEST_CASE("batch: directories and several files run, each study under its name") {
    const StudyBench bench(2);
    bench.write("all/a.yaml", "base: ../exchange.yaml\naxes:\n  collective.ranks: [2, 4]\n");
    bench.write("all/b.yaml",
                "platform: ../platform.yaml\ncollective: {operation: allreduce, ranks: 4, bytes: 1 MB}\n");
    bench.write("all/platform.yaml", tiny_platform);
    const Outcome folder = run_in(bench, {"batch", "all"});
    CAPTURE(folder.err);
    CHECK(folder.status == 0);
    CHECK(holds(folder.err, "note: skipped files that are neither a study nor a scenario: all/platform.yaml"));
    CHECK(holds(folder.err, "3 points: 3 done"));
    CHECK(query(bench / "all.results", "SELECT study, count(*) FROM points GROUP BY study ORDER BY study") ==
          std::vector<Line>{{"a", "2"}, {"b", "1"}});

    CHECK(run_in(bench, {"batch", "study.yaml"}).status == 0);
    CHECK(fs::exists(bench / "study.results/results.db"));
    CHECK(run_in(bench, {"batch", "study.yaml", "all/a.yaml"}).status == 0);
    CHECK(value(bench / "batch.results", "SELECT count(*) FROM points") == "4");

    bench.write("other/a.yaml", "base: ../exchange.yaml\naxes:\n  collective.ranks: [2, 8]\n");
    const Outcome twice = run_in(bench, {"batch", "all/a.yaml", "other/a.yaml"});
    CHECK(twice.status == 3);
    CHECK(holds(twice.err, "both called 'a'"));
}

TEST_CASE("batch: contradictory options are refused with exit code 2", "[memory]") {
    const StudyBench bench(2);
    const std::vector<std::vector<std::string>> wrong{{"--jobs", "0"},
                                                      {"--jobs", "-1"},
                                                      {"--jobs", "two"},
                                                      {"--timeout", "60"},
                                                      {"--timeout", "0 s"},
                                                      {"--shard", "0/4"},
                                                      {"--shard", "5/4"},
                                                      {"--shard", "4"},
                                                      {"--out", ""},
                                                      {"--format", "json"},
                                                      {"--format", "xml", "--dry-run"},
                                                      {"--timeout", "-1 s"}};
    for (const auto& options : wrong) {
        const Outcome outcome = run_program(bench.batch(options));
        CAPTURE(options, outcome.err);
        CHECK(outcome.status == 2);
        CHECK(holds(outcome.err, options.front()));
    }
    CHECK_FALSE(fs::exists(bench / "out"));
    CHECK(run_in(bench, {"batch"}).status == 2);
    CHECK(run_in(bench, {"batch", "nowhere.yaml"}).status == 3);
    // The test cannot know whether it is a directory.
    const Outcome unknown = run_in(bench, {"batch", std::string(300, 'x')});
    CHECK(unknown.status == 3);
    CHECK(holds(unknown.err, "xxx:1:1: error:"));
    const Outcome nothing = run_program(bench.batch({"--resume"}));
    CHECK(nothing.status == 4);
    CHECK(holds(nothing.err, "nothing to resume"));
    CHECK_FALSE(fs::exists(bench / "out"));
}

TEST_CASE("batch: a terminal gets one line of progress", "[memory]") {
    const StudyBench bench(30);
    Invocation batch = bench.batch({"--jobs", "2"});
    batch.err = Stderr::terminal;
    const Outcome outcome = run_program(batch);
    CHECK(outcome.status == 0);
    CHECK(holds(outcome.err, "/30"));
    CHECK(holds(outcome.err, "[.."));
    CHECK(holds(outcome.err, "\r\x1b[K30 points: 30 done"));
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
        to = outcome.err.find('\r', from);
        CHECK(outcome.err.substr(from, to - from).size() <= 80 + 3);
    }
}
