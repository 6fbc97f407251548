#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"
#include "tests/sanitized.hpp"

// The study of 500 points in the studies' README is interrupted, resumed, queried, ranked and plotted.

using namespace syncline::test;
using nlohmann::json;

TEST_CASE("the study in the studies' README can be interrupted, resumed, ranked and plotted") {
#if !defined(SYNCLINE_SANITIZED)  // other tests cover the parts; 500 points take minutes here
    const TempDir directory;
    const std::string study = shipped("scenarios/studies/allreduce.yaml");
    const auto run = [&](std::vector<std::string> arguments, std::optional<Signal> signal = {}) {
        return run_program(
            {.arguments = std::move(arguments), .directory = directory.path(), .signal = signal, .limit_s = 120});
    };
    const Outcome stopped = run({"batch", study, "--out", "out"}, Signal{SIGINT, 0.5});
    CHECK(stopped.status == 130);
    const int before = std::stoi(value(directory / "out", "SELECT count(*) FROM runs WHERE status = 'done'"));
    CHECK(before > 0);
    CHECK(before < 500);
    const Outcome resumed = run({"batch", study, "--out", "out", "--resume"});
    CAPTURE(resumed.err);
    REQUIRE(resumed.status == 0);
    CHECK(value(directory / "out", "SELECT count(*) FROM runs WHERE status = 'done'") == "500");
    CHECK(value(directory / "out", "SELECT count(*) FROM attempts") == "500");

    // On a star every rank has a link of its own, and the ring's closed form is exact: 5 numbers of ranks × 4
    // bandwidths.
    const Outcome exact =
        run({"results", "out", "--format", "json", "--where",
             "topology = 'star' and algorithm = 'ring' and abs(completion_time_s / closed_form_s - 1) < 1e-5"});
    CAPTURE(exact.err);
    REQUIRE(exact.status == 0);
    CHECK(exact.out.find("closed_form_s") != std::string::npos);
    const Outcome count =
        run({"results", "out", "--format", "csv", "--columns", "point", "--where",
             "topology = 'star' and algorithm = 'ring' and abs(completion_time_s / closed_form_s - 1) < 1e-5"});
    CHECK(std::count(count.out.begin(), count.out.end(), '\n') == 1 + 20);

    // All points are done already. A wider link is never slower, so the best has the widest.
    const Outcome best = run({"explore", study, "--out", "out", "--objective", "completion_time_s", "--constraint",
                              "ranks = 32", "--top", "5", "--format", "json"});
    CAPTURE(best.err);
    REQUIRE(best.status == 0);
    const json ranked = json::parse(best.out).at("ranked");
    REQUIRE(ranked.size() == 5);
    CHECK(ranked.front().at("bandwidth") == "100 Gbps");
    for (const json& plan : ranked) CHECK(plan.at("ranks") == "32");
    CHECK(value(directory / "out", "SELECT count(*) FROM attempts") == "500");

    const Outcome drawn =
        run({"plot", "out", "--x", "ranks", "--y", "completion_time_s", "--series", "algorithm", "--log", "xy",
             "--where", "topology = 'star' and bandwidth = '25 Gbps'", "--out", "a.svg"});
    CAPTURE(drawn.err);
    CHECK(drawn.status == 0);
    CHECK(drawn.err.ends_with("wrote a.svg: 5 lines of 25 points\n"));
    const std::string picture = read_file(directory / "a.svg");
    for (const char* name : {"ring", "segmented-ring", "recursive-doubling", "rabenseifner", "double-binary-tree"})
        CHECK(picture.find(std::string(">") + name + "<") != std::string::npos);
#endif
}
