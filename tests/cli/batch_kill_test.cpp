#include <csignal>
#include <random>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"

// A batch that is killed at any moment and then resumed ends like an undisturbed one.

using namespace syncline::test;

namespace {

std::set<Line> done_in(const fs::path& directory) {
    const std::vector<Line> rows = query(directory, "SELECT run_id, result FROM runs WHERE status = 'done'");
    return {rows.begin(), rows.end()};
}

}  // namespace

TEST_CASE("batch: kill -9 at random moments and resuming lose no finished run and repeat none") {
    constexpr int points = 60, kills = 20;
    const StudyBench alone(points);
    const Outcome whole = run_program(alone.batch({"--jobs", "2"}));
    REQUIRE(whole.status == 0);
    const auto expected = content(alone / "out");
    REQUIRE(expected.at("runs").size() == points);

    std::mt19937 random(20210614);
    std::uniform_real_distribution<double> moment(0, 0.7 * whole.seconds);
    int killed = 0, batches = 0;
    while (killed < kills) {
        ++batches;
        const StudyBench bench(points);
        std::set<Line> done;
        for (bool ended = false; !ended;) {
            Invocation batch = bench.batch({"--jobs", "2"});
            if (killed < kills) batch.signal = Signal{SIGKILL, moment(random)};
            if (fs::exists(bench / "out/results.db")) batch.arguments.emplace_back("--resume");
            const Outcome outcome = run_program(batch);
            CAPTURE(killed, batches, outcome.err);
            ended = outcome.status == 0;
            if (!ended) {
                REQUIRE(outcome.status == 128 + SIGKILL);
                ++killed;
            }
            CHECK_FALSE(someone_is_in(bench.path()));
            if (!fs::exists(bench / "out/results.db")) continue;
            if (query(bench / "out", "SELECT name FROM sqlite_master WHERE name = 'runs'").empty()) continue;
            const std::set<Line> now = done_in(bench / "out");
            CHECK(std::includes(now.begin(), now.end(), done.begin(), done.end()));
            done = now;
        }
        CHECK(content(bench / "out") == expected);
        CHECK(value(bench / "out", "SELECT count(*) FROM attempts") == std::to_string(points));
        CHECK(value(bench / "out", "SELECT count(DISTINCT run_id) FROM attempts WHERE status = 'done'") ==
              std::to_string(points));
        CHECK(read_file(bench / "out/results.csv") == read_file(alone / "out/results.csv"));
        CHECK(read_file(bench / "out/results.jsonl") == read_file(alone / "out/results.jsonl"));
    }
}
