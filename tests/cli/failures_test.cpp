#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// A whole run with failures: what `run`, `explore` and reports say of it.

using namespace syncline::test;
using nlohmann::json;

namespace {

constexpr double minute = 60, hour = 3600;

/// Four nodes with one device each, at 3.6 per hour: 0.004 per second together.
struct Run : TinyFiles {
    Outcome run(std::vector<std::string> more, std::vector<std::string> options = {"--format", "json"}) const {
        std::vector<std::string> arguments{
            "run",   "scenario.yaml",           "--variant", "ring", "--set", "platform.per_node.price_per_hour=3.6",
            "--set", "training.fidelity=folded"};
        for (std::string& one : more) arguments.insert(arguments.end(), {"--set", std::move(one)});
        arguments.insert(arguments.end(), options.begin(), options.end());
        return run_in(*this, std::move(arguments));
    }
    json result(std::vector<std::string> more) const {
        const Outcome outcome = run(std::move(more));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)["results"][0];
    }
    /// Returns the length of a run of 500 h, as a setting.
    std::string of_500_hours() const {
        const json one = result({});
        const double iterations = std::round(500 * hour / one["iteration_time_s"].get<double>());
        return fmt::format("training.run.samples={}", iterations * one["samples"].get<double>());
    }
};

const std::string write_5_min = "training.run.checkpoint={interval: optimal, write_time: 5 min}";

}  // namespace

TEST_CASE("failures: days, cost and goodput of a run beside Daly's formula") {
    const Run files;
    const std::string length = files.of_500_hours();
    const json free = files.result({length});
    for (const char* field : {"run_elapsed_median_s", "run_goodput", "run_mtbf_s", "run_checkpoint_interval_s"})
        CHECK(!free.contains(field));

    // Four nodes, each with a failure in 96 h: one a day.
    const json failing = files.result({length, write_5_min, "platform.failures.node=96 h"});
    CHECK(failing["run_time_s"] == free["run_time_s"]);
    CHECK(failing["run_cost"] == free["run_cost"]);
    CHECK(failing["run_mtbf_s"].get<double>() == Approx(24 * hour));
    CHECK(failing["run_young_interval_s"].get<double>() == Approx(120 * minute).epsilon(1e-6));
    CHECK(failing["run_daly_interval_s"].get<double>() == Approx(117 * minute).epsilon(0.01));
    CHECK(failing["run_checkpoint_interval_s"].get<double>() == Approx(117 * minute).epsilon(0.01));
    CHECK(failing["run_expected_s"].get<double>() == Approx(547.9 * hour).epsilon(1e-3));
    const double elapsed_s = failing["run_elapsed_mean_s"];
    CHECK(elapsed_s == Approx(547.9 * hour).epsilon(5e-3));
    CHECK(failing["run_goodput"].get<double>() == Approx(500 / 547.9).epsilon(5e-3));
    CHECK(failing["run_failures"].get<double>() == Approx(547.9 / 24).epsilon(0.03));
    CHECK(failing["run_seeds"] == 1000);
    const double parts = failing["run_time_s"].get<double>() + failing["run_checkpoints_s"].get<double>() +
                         failing["run_lost_s"].get<double>() + failing["run_restarts_s"].get<double>();
    CHECK(elapsed_s == Approx(parts).epsilon(1e-9));
    CHECK(failing["run_elapsed_p05_s"] < failing["run_elapsed_median_s"]);
    CHECK(failing["run_elapsed_median_s"] < failing["run_elapsed_p95_s"]);
    for (const char* quantile : {"median", "p05", "p95"})
        CHECK(failing[fmt::format("run_elapsed_cost_{}", quantile)].get<double>() ==
              Approx(failing[fmt::format("run_elapsed_{}_s", quantile)].get<double>() * 0.004).epsilon(1e-9));

    // All parts that the ring of four uses: devices, nodes, a switch and four cables of a star.
    const json parted = files.result(
        {length, write_5_min, "platform.failures={device: 192 h, node: 192 h, switch: 96 h, link: 128 h}"});
    CHECK(parted["run_mtbf_s"].get<double>() == Approx(hour / (4.0 / 192 + 4.0 / 192 + 1.0 / 96 + 4.0 / 128)));
}

TEST_CASE("failures: without any, a run takes today's time to the last digit") {
    const Run files;
    const std::string length = files.of_500_hours();
    const json free = files.result({length});
    const json checkpoints = files.result({length, "training.run.checkpoint={interval: 1 h, write_time: none}"});
    for (const char* field : {"run_elapsed_median_s", "run_elapsed_p05_s", "run_elapsed_p95_s"})
        CHECK(checkpoints[field] == free["run_time_s"]);
    CHECK(checkpoints["run_goodput"] == 1);
    CHECK(!checkpoints.contains("run_mtbf_s"));
    // 500 checkpoints of a minute.
    const json minutes = files.result({length, "training.run.checkpoint={interval: 1 h, write_time: 1 min}"});
    CHECK(minutes["run_elapsed_median_s"].get<double>() == Approx(500 * hour + 500 * minute).epsilon(1e-6));
}

TEST_CASE("failures: the seed decides, and a run that would not end is told") {
    const Run files;
    const std::string length = files.of_500_hours();
    const std::vector<std::string> failing{length, write_5_min, "platform.failures.node=96 h"};
    const std::vector<std::string> json_of{"--format", "json"};
    const Outcome one = files.run(failing), again = files.run(failing);
    CHECK(one.out == again.out);
    CHECK(files.run(failing, {"--format", "json", "--seed", "2"}).out != one.out);

    const Outcome endless = files.run({length, write_5_min, "platform.failures.node=2 min"}, {});
    CHECK(endless.status == 0);
    CHECK(endless.out.find("the whole run would not end: a part fails every 30 s") != std::string::npos);
    const Outcome unknown = files.run({length, "platform.failures.node=96 h"}, {});
    CHECK(unknown.status == 0);
    CHECK(unknown.out.find("the whole run has no failures, though a part of the 4 nodes fails every 24 h") !=
          std::string::npos);
    const Outcome table = files.run(failing, {});
    for (const char* text : {"with failures", "goodput", "91.", "failures", "checkpoint every"})
        CHECK(table.out.find(text) != std::string::npos);
}

TEST_CASE("failures: a run waits for repairs, or goes on with fewer replicas at their simulated pace") {
    const Run files;
    // Slow devices, so that the computation counts.
    const std::string slow = "platform.device.flops=100 Mflops", at_once = "training.run.checkpoint.write_time=none";
    const double all_s = files.result({slow})["iteration_time_s"];
    const std::string length = fmt::format("training.run.samples={}", std::round(500 * hour / all_s) * 32);
    const auto repaired = [&](const std::string& restart) {
        return files.result({slow, length, at_once, "platform.failures.node=400 h", "training.run.restart=" + restart});
    };
    // A failure in 100 h, each of which adds an hour.
    const json waiting = repaired("{time: none, repair: 1 h}");
    CHECK(waiting["run_waiting_s"].get<double>() == Approx(waiting["run_failures"].get<double>() * hour).epsilon(1e-9));
    CHECK(waiting["run_expected_s"].get<double>() == Approx(500 * 1.01 * hour).epsilon(1e-4));
    CHECK(waiting["run_elapsed_mean_s"].get<double>() == Approx(500 * 1.01 * hour).epsilon(1e-3));
    // Two of three failures in an hour are rare: a spare node helps against all others.
    CHECK(repaired("{time: none, repair: 1 h, spares: 1}")["run_waiting_s"].get<double>() <
          0.02 * waiting["run_waiting_s"].get<double>());

    // The 32 samples of four ranks are at most 11 for each of three.
    const json three = files.result({slow, "training.ranks=3", "training.batch_per_rank=11"});
    const double three_s = three["iteration_time_s"];
    CHECK(three_s > 1.3 * all_s);
    const json fewer = repaired("{time: none, repair: 1 h, elastic: same-batch}");
    const double fewer_s = fewer["run_fewer_replicas_s"];
    CHECK(fewer["run_slower_s"].get<double>() / fewer_s == Approx(1 - all_s / three_s).epsilon(0.02));
    // The mean number of broken nodes is 1/100.
    CHECK(fewer_s / fewer["run_elapsed_mean_s"].get<double>() == Approx(0.01).epsilon(0.08));
    CHECK(fewer["run_waiting_s"] == 0);
    CHECK(!fewer.contains("run_expected_s"));
    const json smaller = repaired("{time: none, repair: 1 h, elastic: smaller-batch}");
    const double eight_s = files.result({slow, "training.ranks=3"})["iteration_time_s"];
    CHECK(smaller["run_slower_s"].get<double>() / smaller["run_fewer_replicas_s"].get<double>() ==
          Approx(1 - all_s / (eight_s * 4 / 3)).epsilon(0.02));
}

TEST_CASE("failures: energy and cost are those of the elapsed run, with nodes that stand by") {
    const Run files;
    const std::string length = files.of_500_hours(), power = "platform.device.power={idle: 100 W, busy: 300 W}";
    const std::string hourly = "training.run.checkpoint={interval: 1 h, write_time: 1 min}";
    const json free = files.result({length, power});
    CHECK(!free.contains("run_elapsed_energy_median_J"));
    const double energy_J = free["run_energy_J"];
    // 500 checkpoints, in which four devices are idle.
    const json written = files.result({length, power, hourly});
    const double minutes_J = 4 * 100 * 500 * minute;
    CHECK(written["run_energy_J"] == energy_J);
    CHECK(written["run_elapsed_energy_median_J"].get<double>() == Approx(energy_J + minutes_J).epsilon(1e-6));
    // Two more devices are idle all the time.
    const json standing = files.result({length, power, hourly, "training.run.restart={repair: 1 h, spares: 2}"});
    const double elapsed_s = standing["run_elapsed_median_s"];
    CHECK(elapsed_s == written["run_elapsed_median_s"]);
    CHECK(standing["run_elapsed_energy_median_J"].get<double>() ==
          Approx(energy_J + minutes_J + 2 * 100 * elapsed_s).epsilon(1e-6));
    CHECK(standing["run_elapsed_cost_median"].get<double>() == Approx(elapsed_s * 6 * 0.001).epsilon(1e-9));
    // Waiting for a repair takes 400 W, which is below the training's power.
    const std::vector<std::string> failing{length, power, hourly, "platform.failures.node=96 h"};
    std::vector<std::string> waits = failing;
    waits.push_back("training.run.restart.repair=5 h");
    const json at_once = files.result(failing), waiting = files.result(waits);
    CHECK(at_once["run_elapsed_energy_p05_J"] < at_once["run_elapsed_energy_median_J"]);
    CHECK(at_once["run_elapsed_energy_median_J"] < at_once["run_elapsed_energy_p95_J"]);
    CHECK(waiting["run_elapsed_energy_median_J"].get<double>() ==
          Approx(at_once["run_elapsed_energy_median_J"].get<double>() +
                 400 * (waiting["run_elapsed_median_s"].get<double>() - at_once["run_elapsed_median_s"].get<double>()))
              .epsilon(1e-3));
}

TEST_CASE("failures: explore finds Daly's interval, and not Young's neighbours") {
    const TempDir directory;
    for (const auto& [mtbf, interval] : {std::pair<std::string, std::string>{"6 h", "57 min"}, {"24 h", "117 min"}}) {
        CAPTURE(mtbf);
        const Outcome outcome =
            run_in(directory, {"explore", shipped("scenarios/studies/checkpoint-interval.yaml"), "--jobs", "1",
                               "--constraint", fmt::format("node = '{}'", mtbf), "--format", "json", "--out", mtbf});
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        const json best = json::parse(outcome.out)["ranked"][0];
        CAPTURE(best.dump());
        CHECK(best.at("interval") == interval);
    }
}

TEST_CASE("failures: a report draws the parts of the run and its runs") {
    const Run files;
    const Outcome outcome = files.run({files.of_500_hours(), write_5_min, "platform.failures.node=96 h"},
                                      {"--report", "page.html", "--format", "json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const std::string page = read_file(files / "page.html");
    CHECK(page.find("Where the run's time goes") != std::string::npos);
    CHECK(page.find("\"from_s\":") != std::string::npos);
    for (const char* part : {"useful", "checkpoints", "lost work", "restarts"})
        CHECK(page.find(fmt::format("\"part\":\"{}\"", part)) != std::string::npos);
}

TEST_CASE("failures: Llama 3's interruptions leave more than 90 % of the run") {
    const TempDir directory;
    const auto result = [&](const std::string& variant) {
        const Outcome outcome =
            run_in(directory, {"run", "llama-3-405b-run", "--variant", variant, "--format", "json"});
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)["results"][0];
    };
    const json assumed = result("assumed");
    // 419 interruptions in 54 days; 14 B of 405 billion parameters at 2 TB/s.
    CHECK(54 * 24 * hour / assumed["run_mtbf_s"].get<double>() == Approx(419).epsilon(0.01));
    CHECK(assumed["run_checkpoint_bytes"].get<double>() == Approx(14 * 405e9).epsilon(0.01));
    CHECK(assumed["run_checkpoint_write_s"].get<double>() == Approx(2.8).epsilon(0.02));
    CHECK(assumed["run_goodput"].get<double>() > 0.9);
    CHECK(assumed["run_elapsed_mean_s"].get<double>() == Approx(assumed["run_expected_s"].get<double>()).epsilon(5e-3));
}
