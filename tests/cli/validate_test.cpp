#include <cmath>
#include <csignal>

#include "tests/cli/measured.hpp"

// Compares predictions with measurements; parameters are fitted to rows that are not counted.

using namespace syncline::test;
using nlohmann::json;

namespace {

const std::string two_that_calibrate = RingBench::row(2, 8'000'000, true) + RingBench::row(4, 8'000, true);

/// Predicted rows whose measurements are 2 % below, 10 % above and 25 % above the predictions.
const std::string three_predicted = RingBench::row(4, 16'000'000, false, 1 / 0.98) +
                                    RingBench::row(8, 800'000, false, 1 / 1.1) +
                                    RingBench::row(16, 16'000'000, false, 1 / 1.25);

}  // namespace

TEST_CASE("validate: parameters are found, and other rows are predicted with them") {
    const RingBench bench;
    bench.scenario(RingBench::series(two_that_calibrate + three_predicted), RingBench::bandwidth + RingBench::latency);
    const json report = bench.json_of({"validate", "ring.yaml"});
    CHECK(report.at("schema_version") == 1);
    const json point = report.at("points").at(0);
    CHECK(point.at("name") == "ring");
    CHECK(point.at("source") == "made up");
    CHECK(point.at("noise").is_null());
    const json found = point.at("parameters");
    CHECK(found.at(0).at("value").get<double>() == Approx(2.5).epsilon(1e-6));
    CHECK(found.at(1).at("value").get<double>() == Approx(3).epsilon(1e-6));
    CHECK(found.at(1).at("rows") == json{"base 2/8000000 B", "base 4/8000 B"});
    // Two rows, r = J x with J's rows (12, 3200) / 3212 and (36, 4.8) / 40.8, bandwidth with a minus.
    const double a = 12.0 / 3212, b = 3200.0 / 3212, c = 36 / 40.8, d = 4.8 / 40.8, determinant = a * d - b * c;
    CHECK(found.at(0).at("percent_per_percent").get<double>() ==
          Approx(std::hypot(a, c) / std::abs(determinant)).epsilon(1e-3));
    CHECK(found.at(1).at("percent_per_percent").get<double>() ==
          Approx(std::hypot(b, d) / std::abs(determinant)).epsilon(1e-3));
    const std::vector<double> errors{0, 0, -0.02, 0.1, 0.25};
    REQUIRE(point.at("rows").size() == errors.size());
    for (std::size_t i = 0; i < errors.size(); ++i) {
        const json row = point.at("rows").at(i);
        CHECK(row.at("role") == (i < 2 ? "calibrates" : "predicted"));
        CHECK(row.at("error").get<double>() == Approx(errors[i]).margin(1e-6));
        CHECK(row.at("accuracy").get<double>() == Approx(1 - std::abs(errors[i])).margin(1e-6));
    }
    CHECK(point.at("rows").at(4).at("settings") ==
          json{{"collective.ranks", "16"}, {"collective.bytes", "16000000 B"}});
    // Calibration rows would raise all three.
    for (const json& figures : {report, point, report.at("without_doubtful")}) {
        CHECK(figures.at("median_accuracy").get<double>() == Approx(0.9).epsilon(1e-6));
        CHECK(figures.at("worst_accuracy").get<double>() == Approx(0.75).epsilon(1e-6));
        CHECK(figures.at("share_above_085").get<double>() == Approx(2.0 / 3));
    }
}

TEST_CASE("validate: uncalibrated predictions have the scenario's own values, and are counted beside the others") {
    const RingBench bench;
    bench.scenario(RingBench::series(two_that_calibrate + three_predicted), RingBench::bandwidth + RingBench::latency);
    const json report = bench.json_of({"validate", "ring.yaml"});
    const json point = report.at("points").at(0);
    // 2(n-1) steps of two links with 1 us each and a part of the bytes at 1 GB/s, where the true values are 3 us and
    // 2.5 GB/s.
    const std::vector<double> own_us{8004, 24, 24012, 1428, 30060}, true_us{3212, 40.8, 9636, 644, 12180};
    const std::vector<double> measured_us{3212, 40.8, true_us[2] / 0.98, true_us[3] / 1.1, true_us[4] / 1.25};
    for (std::size_t i = 0; i < own_us.size(); ++i) {
        const json row = point.at("rows").at(i);
        CHECK(row.at("uncalibrated").get<double>() == Approx(own_us[i] * 1e-6).epsilon(1e-4));
        CHECK(row.at("uncalibrated_error").get<double>() == Approx(own_us[i] / measured_us[i] - 1).epsilon(1e-4));
    }
    // Errors of the predicted rows above one: no accuracy at all.
    for (const json& all : {report, point}) {
        const json figures = all.at("uncalibrated");
        CHECK(figures.at("rows") == 3);
        CHECK(figures.at("median_accuracy").get<double>() == 0);
        CHECK(figures.at("share_above_085").get<double>() == 0);
        CHECK(figures.at("bias").get<double>() ==
              Approx((24012 / measured_us[2] + 1428 / measured_us[3] + 30060 / measured_us[4]) / 3 - 1).epsilon(1e-4));
    }
    const std::string table = run_in(bench, {"validate", "ring.yaml"}).out;
    CHECK(says(table, "uncalibrated: median 0.000, worst 0.000, above 0.85: 0.0 %"));
    CHECK(says(run_in(bench, {"validate", "ring.yaml", "--format", "csv"}).out,
               "settings,uncalibrated,uncalibrated_error\n"));

    const json without = bench.json_of({"validate", "ring.yaml", "--no-uncalibrated"});
    CHECK_FALSE(without.contains("uncalibrated"));
    CHECK_FALSE(without.at("points").at(0).at("rows").at(0).contains("uncalibrated"));
    // Without parameters there is nothing to leave out.
    bench.scenario(RingBench::series(three_predicted), "");
    CHECK_FALSE(bench.json_of({"validate", "ring.yaml"}).contains("uncalibrated"));
}

TEST_CASE("validate: leaving a row out changes the predictions as the formula says") {
    const RingBench bench;
    // Bandwidth is fitted to two rows, the second of which is 4 % off: the best value for both is in between.
    const std::string rows = RingBench::row(2, 800'000'000, true) + RingBench::row(2, 400'000'000, true, 1.04) +
                             RingBench::row(4, 800'000'000, false);
    bench.scenario(RingBench::series(rows), RingBench::bandwidth);
    const json point =
        bench.json_of({"validate", "ring.yaml", "--set", "platform.fabric.latency=3 us"}).at("points").at(0);
    // Latency is only a hundred thousandth: times are inverse to the bandwidth, and the best one is the geometric mean.
    const double both = 2.5 / std::sqrt(1.04);
    CHECK(point.at("parameters").at(0).at("value").get<double>() == Approx(both).epsilon(1e-4));
    // There are one parameter and two rows, which are off by ±ln(1.04)/2.
    CHECK(point.at("parameters").at(0).at("relative_standard_error").get<double>() ==
          Approx(std::log(1.04) / 2).epsilon(1e-3));
    const json left = point.at("leave_one_out");
    REQUIRE(left.size() == 2);
    CHECK(left.at(0).at("row") == "base 2/800000000 B");
    CHECK(left.at(0).at("parameters").at(0).at("value").get<double>() == Approx(2.5 / 1.04).epsilon(1e-4));
    CHECK(left.at(1).at("parameters").at(0).at("value").get<double>() == Approx(2.5).epsilon(1e-4));
    CHECK(left.at(0).at("largest_change").get<double>() == Approx(std::sqrt(1.04) - 1).epsilon(1e-3));
    CHECK(left.at(1).at("median_change").get<double>() == Approx(1 - 1 / std::sqrt(1.04)).epsilon(1e-3));
    CHECK(left.at(1).at("largest_change_row") == "base 4/800000000 B");
    CHECK(
        bench.json_of({"validate", "ring.yaml", "--no-leave-one-out"}).at("points").at(0).at("leave_one_out").empty());
}

TEST_CASE("validate: a parameter without a row of its own keeps the scenario's value, which later ones use") {
    const RingBench bench;
    const std::string of_first =
        "    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 50, rows: [base "
        "2/8000000 B]}\n";
    const std::string of_second =
        "    - {key: platform.fabric.latency, unit: us, least: 0.1, most: 50, rows: [base 4/8000 B]}\n";
    bench.scenario(RingBench::series(two_that_calibrate + three_predicted), of_first + of_second);
    const json point = bench.json_of({"validate", "ring.yaml"}).at("points").at(0);
    // The bandwidth is fitted first, with the scenario's 1 us: 2 (2 us + 4 MB / B) = 3212 us. Then the latency, with
    // that bandwidth.
    const double bandwidth = 4e6 / (3212e-6 / 2 - 2e-6);
    CHECK(point.at("parameters").at(0).at("value").get<double>() == Approx(bandwidth / 1e9).epsilon(1e-6));
    CHECK(point.at("parameters").at(1).at("value").get<double>() ==
          Approx(1e6 * (40.8e-6 / 6 - 2000 / bandwidth) / 2).epsilon(1e-6));
    const json left = point.at("leave_one_out").at(0);
    CHECK(left.at("parameters").at(0).at("value").is_null());
    CHECK(left.at("parameters").at(0).at("ending") == "too-few-rows");
    CHECK(left.at("parameters").at(1).at("value").get<double>() ==
          Approx(1e6 * (40.8e-6 / 6 - 2000 / 1e9) / 2).epsilon(1e-6));
    CHECK(says(run_in(bench, {"validate", "ring.yaml"}).out, "too few rows remain to estimate it"));
}

TEST_CASE("validate: unreliable rows are shown with the reason, and counted separately") {
    const RingBench bench;
    bench.scenario(RingBench::series(two_that_calibrate + RingBench::row(8, 800'000, false, 1 / 1.1)) +
                       RingBench::series(RingBench::row(4, 16'000'000, false, 2),
                                         "      name: odd\n      doubt: the switch was shared\n"),
                   RingBench::bandwidth + RingBench::latency);
    const json report = bench.json_of({"validate", "ring.yaml"});
    CHECK(report.at("rows") == 2);
    CHECK(report.at("worst_accuracy").get<double>() == Approx(0.5).epsilon(1e-6));
    CHECK(report.at("median_accuracy").get<double>() == Approx(0.7).epsilon(1e-6));
    CHECK(report.at("without_doubtful").at("rows") == 1);
    CHECK(report.at("without_doubtful").at("worst_accuracy").get<double>() == Approx(0.9).epsilon(1e-6));
    CHECK(report.at("points").at(0).at("rows").at(3).at("doubt") == "the switch was shared");
    const Outcome table = run_in(bench, {"validate", "ring.yaml"});
    CHECK(says(table.out, "unreliable: odd: the switch was shared"));
    CHECK(says(table.out, "reliable only: 1 predicted"));
    CHECK(run_in(bench, {"validate", "ring.yaml", "--check", "--least-median", "0.69"}).status == 0);
}

TEST_CASE("validate: --check reports values that are too low, after the table") {
    const RingBench bench;
    bench.scenario(RingBench::series(two_that_calibrate + three_predicted), RingBench::bandwidth + RingBench::latency);
    const Outcome low = run_in(bench, {"validate", "ring.yaml", "--check"});
    CHECK(low.status == 1);
    CHECK(says(low.out, "all: 3 predicted"));
    CHECK(low.err ==
          "error: the median accuracy is 0.900, below 0.93; the accuracy of row 'base 16/16000000 B' of ring is 0.750, "
          "below 0.85\n");
    CHECK(run_in(bench, {"validate", "ring.yaml", "--check", "--least-median", "0.89", "--least-row", "0.74"}).status ==
          0);
    CHECK(run_in(bench, {"validate", "ring.yaml"}).status == 0);
    CHECK(run_in(bench, {"validate", "ring.yaml", "--least-row", "0.5"}).status == 2);
    CHECK(run_in(bench, {"validate", "ring.yaml", "--check", "--least-row", "85"}).status == 2);
    for (const char* option : {"--least-median", "--least-row"})
        CHECK(run_in(bench, {"validate", "ring.yaml", "--check", option, "nan"}).status == 2);
}

TEST_CASE("validate: a directory validates every file with measurements, by name, with figures over all", "[memory]") {
    const RingBench bench;
    bench.scenario(RingBench::series(RingBench::row(4, 800, false, 0.5)), "", "set/b.yaml");
    bench.scenario(RingBench::series(RingBench::row(2, 800, false, 0.5) + RingBench::row(8, 800, false, 0.5)), "",
                   "set/a.yaml");
    bench.write("set/platform.yaml", tiny_platform);
    const std::vector<std::string> command{
        "validate", "set", "--set", "platform.fabric.bandwidth=2.5 GBps", "--set", "platform.fabric.latency=3 us",
        "--jobs",   "1"};
    const Outcome outcome = run_in(bench, command);
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "note: skipped set/platform.yaml: it has no key 'measured'\n");
    CHECK(outcome.out.find("a: made up") < outcome.out.find("b: made up"));
    // A prediction of twice the measurement has an accuracy of zero, which is the minimum.
    CHECK(says(outcome.out, "all: 3 predicted, accuracy: median 0.000, worst 0.000, above 0.85: 0.0 %"));
    std::vector<std::string> again = command;
    again.back() = "3";
    CHECK(run_in(bench, again).out == outcome.out);
    again.insert(again.begin() + 2, "set/../set/a.yaml");  // counts once
    CHECK(run_in(bench, again).out == outcome.out);
    bench.write("set/c.yaml", "platform: [\n");
    bench.write("set/d.yaml", "platform: ../platform.yaml\nmeasured: {sources: nobody}\n");
    const Outcome broken = run_in(bench, {"validate", "set"});
    CHECK(broken.status == 3);
    CHECK(says(broken.err, "set/c.yaml:"));
    CHECK(says(broken.err, "set/d.yaml:2:12: error: unknown key 'sources'"));
    bench.write("empty/platform.yaml", tiny_platform);
    CHECK(run_in(bench, {"validate", "empty"}).status == 3);
    CHECK(run_in(bench, {"validate", "nowhere"}).status == 3);
    fs::create_directories(bench / "scenarios/published");
    CHECK(run_in(bench, {"validate"}).status == 3);  // the folder's own presets come first, and there are none
}

TEST_CASE("validate: CSV has a line for each row", "[memory]") {
    const RingBench bench;
    bench.scenario(RingBench::series(RingBench::row(2, 8000, false), "      name: one, two\n"), "");
    const Outcome outcome = run_in(bench, {"validate", "ring.yaml", "--format", "csv"});
    // The prediction is 2 (2 us + 4 us), the measurement 2 (6 us + 1.6 us).
    CHECK(says(outcome.out,
               "point,row,series,variant,field,measured,predicted,error,accuracy,role,doubt,settings\n"
               "ring,\"one, two 2/8000 B\",\"one, two\",base,completion_time_s,"));
    CHECK(says(outcome.out, ",predicted,,collective.ranks=2; collective.bytes=8000 B\n"));
    const std::size_t at = outcome.out.find("completion_time_s,") + std::string("completion_time_s,").size();
    CHECK(std::stod(outcome.out.substr(at)) == Approx(15.2e-6));
    CHECK(std::stod(outcome.out.substr(outcome.out.find(',', at) + 1)) == Approx(12e-6));
}

TEST_CASE("validate: nothing is fitted to a counted row, and an attempt is reported", "[memory]") {
    const RingBench bench;
    const std::string fitted =
        "    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 50, rows: [base "
        "4/16000000 B]}\n";
    bench.scenario(RingBench::series(RingBench::row(4, 16'000'000, false)), fitted);
    const Outcome outcome = run_in(bench, {"validate", "ring.yaml"});
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
    CHECK(says(
        outcome.err,
        "ring.yaml:11:81: error: row 'base 4/16000000 B' is a predicted row, so no parameter can be fitted to it"));
    const std::string late =
        RingBench::row(2, 800, false) + RingBench::row(2, 8000, false) + RingBench::row(4, 800, true);
    bench.scenario(RingBench::series(late), RingBench::bandwidth);
    CHECK(says(run_in(bench, {"validate", "ring.yaml"}).err,
               "ring.yaml:11:11: error: calibration row 'base 4/800 B' is not among the first two of its series"));
    bench.scenario(RingBench::series(two_that_calibrate + RingBench::row(4, 8'000, false)), RingBench::bandwidth);
    CHECK(run_in(bench, {"validate", "ring.yaml"}).status == 3);
}

TEST_CASE("validate: check reads measurements, too, and run ignores them", "[memory]") {
    const RingBench bench;
    bench.scenario(RingBench::series(two_that_calibrate), RingBench::bandwidth);
    CHECK(run_in(bench, {"check", "ring.yaml"}).out == "ring.yaml: a correct scenario with measurements\n");
    bench.scenario(RingBench::series(two_that_calibrate, "      field: completion_time\n"), RingBench::bandwidth);
    const Outcome refused = run_in(bench, {"check", "ring.yaml"});
    CHECK(refused.status == 3);
    CHECK(says(refused.err, "ring.yaml:8:14: error: results have no field 'completion_time'"));
    CHECK(run_in(bench, {"run", "ring.yaml"}).status == 0);
}

TEST_CASE("validate: scenarios that are simulated by turns are predicted as each one alone") {
    const RingBench bench;
    // The first one's parameters need several simulations, one after the other, while the others' are simulated.
    const std::string rows = two_that_calibrate + three_predicted;
    bench.scenario(RingBench::series(rows), RingBench::bandwidth + RingBench::latency, "a.yaml");
    bench.scenario(RingBench::series(three_predicted), "", "b.yaml");
    bench.scenario(RingBench::series(rows), RingBench::latency, "c.yaml");
    const json all = bench.json_of({"validate", "a.yaml", "b.yaml", "c.yaml", "--jobs", "3"}).at("points");
    REQUIRE(all.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string file = std::string(1, "abc"[i]) + ".yaml";
        CHECK(all[i] == bench.json_of({"validate", file, "--jobs", "1"}).at("points").at(0));
    }
}

TEST_CASE("validate: of several scenarios with rows that fail, each error is shown, in order", "[memory]") {
    const RingBench bench;
    for (const std::string name : {"a", "b", "c"}) {
        const std::string zero = "        - {at: [1, 8 B], value: 1}\n";
        bench.scenario(RingBench::series(three_predicted + (name == "a" ? "" : zero)), "", name + ".yaml");
    }
    const Outcome outcome = run_in(bench, {"validate", "a.yaml", "b.yaml", "c.yaml", "--jobs", "3"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    REQUIRE(says(outcome.err, "error: b, row"));
    CHECK(says(outcome.err.substr(outcome.err.find("error: b, row")), "\nerror: c, row"));
    CHECK(says(outcome.out, "all: 9 predicted"));
    CHECK_FALSE(outcome.left_behind);
}

TEST_CASE("validate: a simulation that fails is an error that names the row", "[memory]") {
    const RingBench bench;
    bench.write("workload.yaml", tiny_workload);
    bench.write(
        "full.yaml",
        "platform: platform.yaml\nworkload: workload.yaml\n"
        "training: {ranks: 2, batch_per_rank: 8}\n"
        "measured: {source: nobody, series: [{over: [platform.device.memory], rows: [{at: [1 kB], value: 1}]}]}\n");
    const Outcome outcome = run_in(bench, {"validate", "full.yaml"});
    CHECK(outcome.status == 1);
    CHECK(says(outcome.err, "error: full, row 'base 1 kB': it needs"));
}

TEST_CASE("validate: a result of zero is reported as zero", "[memory]") {
    const RingBench bench;
    bench.write("workload.yaml", tiny_workload);
    bench.write("alone.yaml",
                "platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 1, batch_per_rank: 8}\n"
                "measured: {source: nobody, field: exposed_communication_time_s, series: [{rows: [{value: 1}]}]}\n");
    const Outcome outcome = run_in(bench, {"validate", "alone.yaml"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(says(outcome.err, "error: alone, row 'base': its 'exposed_communication_time_s' is 0"));
}

TEST_CASE("validate: a parameter on which rows hardly depend has a remark") {
    const RingBench bench;
    const std::string rows = RingBench::row(2, 8'000'000, true) + RingBench::row(4, 8'000, false);
    bench.scenario(RingBench::series(rows), RingBench::latency);
    const std::vector<std::string> command{"validate", "ring.yaml", "--wide", "--set",
                                           "platform.fabric.bandwidth=2.5 GBps"};
    const auto parameter = [&] { return bench.json_of(command).at("points").at(0).at("parameters").at(0); };
    // 12 us of 3212 are latency: 1 % of the time is 268 % of it.
    CHECK(parameter().at("percent_per_percent").get<double>() == Approx(3212.0 / 12).epsilon(1e-3));
    CHECK(parameter().at("hardly_determined") == true);
    CHECK(says(run_in(bench, command).out, "poorly determined: an error of 1 % in the rows changes it by 268 %"));
    bench.scenario(RingBench::series(rows), RingBench::latency + "  noise: 0.1 %\n");
    CHECK(parameter().at("hardly_determined") == false);
    CHECK_FALSE(says(run_in(bench, command).out, "poorly determined"));
    bench.scenario(RingBench::series(rows), RingBench::latency + "  noise: 0.2 %\n");
    CHECK(says(run_in(bench, command).out, "poorly determined: an error of 0.2 % in the rows changes it by 53.5 %"));
}

TEST_CASE("validate: Ctrl-C ends it and all processes that it has started", "[memory]") {
    const RingBench bench;
    std::string text{long_scenario};
    for (std::size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, SYNCLINE_SOURCE_DIR);
    bench.write("long.yaml", text + "measured: {source: nobody, series: [{rows: [{value: 1}]}]}\n");
    Invocation invocation{.arguments = {"validate", "long.yaml"}, .directory = bench.path()};
    invocation.signal = Signal{SIGINT, 1.5, To::group};
    const Outcome outcome = run_program(invocation);
    CHECK(outcome.status == 130);
    CHECK(outcome.out.empty());
    CHECK_FALSE(outcome.left_behind);
    CHECK(outcome.after_signal_s < too_late_s);
}
