#include <csignal>
#include <random>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"

// A batch or an exploration that is killed at any moment, with its processes or without, and then run again ends like
// an undisturbed one.

using namespace syncline::test;

namespace {

constexpr int points = 60;

std::set<Line> done_in(const fs::path& directory) {
    const std::vector<Line> rows = query(directory, "SELECT run_id, result FROM runs WHERE status = 'done'");
    return {rows.begin(), rows.end()};
}

std::vector<std::string> batch() {
    return {"batch", "study.yaml", "--out", "out", "--jobs", "2", "--retry-failed"};
}

/// A search that simulates a half of the points.
std::vector<std::string> search() {
    return {"explore",  "study.yaml", "--out",          "out",         "--jobs",           "2",
            "--budget", "30",         "--retry-failed", "--objective", "bus_bandwidth_Bps"};
}

std::vector<std::string> files_in(const fs::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

/// Kills the program `kills` times, a few times per store, and compares each store at its end with an undisturbed one.
void kill_and_resume(const std::vector<std::string>& arguments, const std::vector<std::string>& written, int kills,
                     unsigned seed) {
    const StudyBench alone(points);
    const Outcome whole = run_program({.arguments = arguments, .directory = alone.path()});
    {
        CAPTURE(whole.err);  // not shown where a later run fails
        REQUIRE(whole.status == 0);
    }
    const auto expected = content(alone / "out");

    std::mt19937 random(seed);
    std::uniform_real_distribution<double> moment(0, 0.7 * whole.seconds);
    constexpr int per_store = 5;
    for (int killed = 0; killed < kills;) {
        const StudyBench bench(points);
        std::set<Line> done;
        for (int left = std::min(per_store, kills - killed); left >= 0; --left) {
            Invocation again{.arguments = arguments, .directory = bench.path()};
            constexpr To targets[] = {To::program, To::workers, To::group};
            if (left > 0) again.signal = Signal{SIGKILL, moment(random), targets[random() % 3]};
            CAPTURE(killed, left);
            const Outcome outcome = run_program(again);
            CAPTURE(outcome.err);
            if (left == 0) {
                REQUIRE(outcome.status == 0);
            } else {
                ++killed;
                // Only points can fail, for lack of their processes.
                const bool survived = again.signal->to == To::workers && outcome.status <= 1;
                CHECK((survived || outcome.status == 0 || outcome.status == 128 + SIGKILL));
            }
            CHECK_FALSE(someone_is_in(bench.path()));
            if (!fs::exists(bench / "out/results.db")) continue;
            if (query(bench / "out", "SELECT name FROM sqlite_master WHERE name = 'runs'").empty()) continue;
            const std::set<Line> now = done_in(bench / "out");
            CHECK(std::includes(now.begin(), now.end(), done.begin(), done.end()));
            done = now;
        }
        CHECK(content(bench / "out") == expected);
        const std::string successes = value(bench / "out", "SELECT count(*) FROM attempts WHERE status = 'done'");
        CHECK(successes == std::to_string(done.size()));  // no finished run is repeated
        for (const std::string& name : written) {
            CAPTURE(name);
            CHECK(read_file(bench / "out" / name) == read_file(alone / "out" / name));
        }
        CHECK(files_in(bench / "out") == files_in(alone / "out"));
    }
}

}  // namespace

TEST_CASE("batch: kill -9 at random moments and resuming lose no finished run and repeat none") {
    kill_and_resume(batch(), {"results.csv", "results.jsonl"}, 15, 20210614);
}

TEST_CASE("explore: kill -9 at random moments loses no finished run, and the answer stays") {
    kill_and_resume(search(), {"results.csv", "results.jsonl", "exploration.csv"}, 10, 20210615);
}

TEST_CASE("batch: two hundred times kill -9 at random moments", "[.][slow]") {
    kill_and_resume(batch(), {"results.csv", "results.jsonl"}, 200, 20210616);
}

TEST_CASE("explore: two hundred times kill -9 at random moments", "[.][slow]") {
    kill_and_resume(search(), {"results.csv", "results.jsonl", "exploration.csv"}, 200, 20210617);
}
