#include "sim/measured/measured.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/config/scenario.hpp"
#include "sim/validation/calibration.hpp"
#include "sim/validation/validation.hpp"
#include "tests/catch.hpp"

// The key `measured`: how it is read. Most mistakes are in tests/cases/measured.cases.

using namespace syncline;
using config::MeasuredFiles;
using config::MeasuredScenario;
namespace fs = std::filesystem;

namespace {

const std::string p100 = std::string(SYNCLINE_SOURCE_DIR) + "/platforms/p100-25g.yaml";

/// `measured` is in line 3, its rows in 9 to 11, the parameter in 13.
const std::string good = "platform: " + p100 + R"(
collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}
measured:
  source: somebody
  field: completion_time_s
  series:
    - over: [collective.ranks]
      rows:
        - {at: [2], value: 1, calibrates: true}
        - {at: [4], value: 2}
        - {at: [8], value: 4}
  parameters:
    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 20, rows: [base 2]}
)";

std::string changed(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

/// The scenario in a temporary directory, with a second file.
MeasuredScenario read(const std::string& text, const std::string& beside = "", MeasuredFiles files = {}) {
    const fs::path directory = fs::temp_directory_path() / fmt::format("syncline-measured-{}", getpid());
    fs::create_directories(directory);
    std::ofstream(directory / "test.yaml") << text;
    if (!files.measured.empty()) {
        files.measured = directory / files.measured;
        std::ofstream(files.measured) << beside;
    }
    files.scenario = directory / "test.yaml";
    try {
        MeasuredScenario result(files, {});
        fs::remove_all(directory);
        return result;
    } catch (...) {
        fs::remove_all(directory);
        throw;
    }
}

/// Returns "line:column: message" of each error; nothing if there is none.
std::vector<std::string> errors_of(const std::function<void()>& step) {
    std::vector<std::string> errors;
    try {
        step();
    } catch (const ConfigError& error) {
        for (const Diagnostic& one : error.diagnostics())
            errors.push_back(fmt::format("{}:{}: {}", one.where.line, one.where.column, one.message));
    }
    return errors;
}

const std::string parameter =
    "    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 20, rows: [base 2]}\n";
const std::string second_row = "        - {at: [4], value: 2}\n";

}  // namespace

TEST_CASE("measured: rows, series and parameters are read from the file", "[memory]") {
    const MeasuredScenario scenario =
        read(changed(good, "field: completion_time_s", "noise: 5 %\n  unit: ms\n  field: completion_time_s"));
    CHECK(scenario.name() == "test");
    CHECK(scenario.measurements().rows[0].exchange_alone);
    const config::Measurements& all = scenario.measurements();
    CHECK(all.source == "somebody");
    CHECK(all.noise == Approx(0.05));
    REQUIRE(all.rows.size() == 3);
    CHECK(all.rows[1].name == "base 4");
    CHECK(all.rows[1].value == Approx(2e-3));
    CHECK(all.rows[0].calibrates);
    CHECK_FALSE(all.rows[1].calibrates);
    REQUIRE(all.parameters.size() == 1);
    CHECK(all.parameters[0].rows == std::vector<std::size_t>{0});
    CHECK(all.parameters[0].text(2.5) == "2.5 GBps");
}

TEST_CASE("measured: a row's scenario has its settings and the values of parameters", "[memory]") {
    const MeasuredScenario scenario = read(good);
    const auto variant = [&](std::size_t row, std::optional<double> value) {
        const auto resolved = scenario.resolved(scenario.measurements().rows[row], {value});
        return config::load_resolved(resolved.text(), "test", {});
    };
    CHECK(variant(2, {}).collective->ranks == 8);
    CHECK(variant(0, {}).cluster.fabric.topology.bandwidth_Bps.front() == Approx(25e9 / 8));
    CHECK(variant(0, 7.5).cluster.fabric.topology.bandwidth_Bps.front() == Approx(7.5e9));
}

TEST_CASE("measured: rows that are kept keep the rows and parameters that theirs are estimated with", "[memory]") {
    // `one 8` needs the bandwidth, that needs `two 4`, and this row the latency and so `two 2`. Nothing needs `three
    // 2`.
    MeasuredScenario scenario = read("platform: " + p100 + R"(
collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}
measured:
  source: somebody
  field: completion_time_s
  series:
    - {name: three, over: [collective.ranks], rows: [{at: [2], value: 1}]}
    - {name: one, over: [collective.ranks], rows: [{at: [8], value: 4}]}
    - name: two
      over: [collective.ranks]
      rows: [{at: [2], value: 1, calibrates: true}, {at: [4], value: 2, calibrates: true}]
  parameters:
    - {key: platform.fabric.latency, unit: us, least: 0.1, most: 20, series: [two], rows: [two 2]}
    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 20, series: [one, two], rows: [two 4]}
)");
    scenario.keep({false, true, false, false});
    const config::Measurements& all = scenario.measurements();
    std::vector<std::string> names;
    for (const config::MeasuredRow& row : all.rows) names.push_back(row.name);
    CHECK(names == std::vector<std::string>{"one 8", "two 2", "two 4"});
    REQUIRE(all.parameters.size() == 2);
    CHECK(all.parameters[0].rows == std::vector<std::size_t>{1});
    CHECK(all.parameters[1].rows == std::vector<std::size_t>{2});
}

TEST_CASE("measured: --set changes rows, and the measurements themselves", "[memory]") {
    const MeasuredScenario rows = read(good, "", {.scenario = "", .assignments = {"collective.bytes=2 MB"}});
    const auto text = rows.resolved(rows.measurements().rows[0], {{}}).text();
    CHECK(config::load_resolved(text, "test", {}).collective->bytes == 2'000'000);
    CHECK(read(good, "", {.scenario = "", .assignments = {"measured.source=others"}}).measurements().source ==
          "others");
}

TEST_CASE("measured: --set gives no value to a parameter", "[memory]") {
    const auto errors = [](const std::string& assignment) {
        return errors_of([&] { read(good, "", {.scenario = "", .assignments = {assignment}}); });
    };
    const std::vector<std::string> refused{
        "1:1: 'platform.fabric.bandwidth' is a parameter: its value is estimated from the rows"};
    CHECK(errors("platform.fabric.bandwidth=3 GBps") == refused);
    CHECK(errors("platform.fabric={bandwidth: 3 GBps}") == refused);
    CHECK(errors("platform=" + p100) == refused);
    CHECK(errors("platform.fabric.latency=3 us").empty());
}

TEST_CASE("measured: a file may have exchanges alone and trainings, each with its own fields", "[memory]") {
    const auto text = [](const std::string& of_exchange, const std::string& of_training) {
        return "platform: " + p100 +
               "\nvariants:\n"
               "  ring: {collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}}\n"
               "  resnet: {workload: " +
               SYNCLINE_SOURCE_DIR +
               "/workloads/resnet-50.yaml, training: {ranks: 2, batch_per_rank: 64}}\n"
               "measured:\n  source: somebody\n  series:\n    - {variant: ring, field: " +
               of_exchange + ", rows: [{value: 1}]}\n    - {variant: resnet, field: " + of_training +
               ", rows: [{value: 1}]}\n";
    };
    const auto errors = [&](const std::string& of_exchange, const std::string& of_training) {
        const MeasuredScenario scenario = read(text(of_exchange, of_training));
        return errors_of([&] { validation::require_fields(scenario); });
    };
    CHECK(errors("bus_bandwidth_Bps", "throughput_samples_per_s").empty());
    CHECK(errors("throughput_samples_per_s", "bus_bandwidth_Bps") ==
          std::vector<std::string>{"8:30: results have no field 'throughput_samples_per_s'",
                                   "9:32: results have no field 'bus_bandwidth_Bps'"});
}

TEST_CASE("measured: fields that results do not have are refused", "[memory]") {
    const MeasuredScenario scenario = read(changed(good, "completion_time_s", "throughput_samples_per_s"));
    CHECK(errors_of([&] { validation::require_fields(scenario); }) ==
          std::vector<std::string>{"5:10: results have no field 'throughput_samples_per_s'"});
    CHECK_NOTHROW(validation::require_fields(read(good)));
    const auto errors = [](const std::string& field) {
        const MeasuredScenario changed_field = read(changed(good, "field: completion_time_s", field));
        return errors_of([&] { validation::require_fields(changed_field); });
    };
    CHECK(errors("field: completion_time_s\n  unit: GBps") ==
          std::vector<std::string>{"6:9: 'completion_time_s' has no unit 'GBps'"});
    // The field is reported first, and its unit is not an additional error.
    CHECK(errors("field: completion_time\n  unit: us") ==
          std::vector<std::string>{"5:10: results have no field 'completion_time'"});
}

TEST_CASE("measured: published files may fit one parameter to each of the first two rows", "[memory]") {
    const auto errors = [](const std::string& text) {
        const MeasuredScenario scenario = read(text);
        return errors_of([&] { validation::require_few_parameters(scenario); });
    };
    CHECK(errors(good).empty());
    const std::string third =
        changed(changed(good, "value: 4}", "value: 4, calibrates: true}"), "[base 2]", "[base 2, base 8]");
    CHECK(errors(third) ==
          std::vector<std::string>{"11:11: calibration row 'base 8' is not among the first two of its series"});
    const std::string latency =
        "    - {key: platform.fabric.latency, unit: us, least: 0.1, most: 20, rows: [base 2]}\n";
    CHECK(errors(changed(good, parameter, parameter + latency)) ==
          std::vector<std::string>{
              "14:13: 'platform.fabric.latency' is one parameter more than its calibration rows determine"});
    const std::string two = changed(good, second_row, "        - {at: [4], value: 2, calibrates: true}\n");
    CHECK(errors(changed(two, parameter, parameter + changed(latency, "base 2", "base 4"))).empty());
}

TEST_CASE("measured: a table in CSV equals the key", "[memory]") {
    const std::string scenario = "platform: " + p100 + R"(
collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}
variants: {ring: {}, "a, b": {collective.algorithm: direct}}
)";
    const MeasuredFiles files{.scenario = "", .measured = "m.csv", .fits = {"platform.fabric.bandwidth=0.1..20 GBps"}};
    const MeasuredScenario read_table = read(scenario,
                                             "variant,collective.ranks,collective.bytes,completion_time_s\r\n"
                                             "ring,2,\"1 MB\",0.5\r\n"
                                             "\n"
                                             "\"a, b\",4,1 MB,0.25\n"
                                             "ring,8,1 MB,2\n",
                                             files);
    const config::Measurements& all = read_table.measurements();
    REQUIRE(all.series.size() == 2);
    CHECK(all.series[1].variant == "a, b");
    CHECK(all.series[0].over == std::vector<std::string>{"collective.ranks", "collective.bytes"});
    CHECK(all.series[0].field == "completion_time_s");
    REQUIRE(all.rows.size() == 3);
    CHECK(all.rows[1].name == "ring 8/1 MB");
    CHECK(all.rows[2].value == 0.25);
    REQUIRE(all.parameters.size() == 1);
    CHECK(all.parameters[0].rows == std::vector<std::size_t>{0, 1, 2});
    CHECK(all.parameters[0].most == 20);
}

TEST_CASE("measured: errors in a table or a range are reported at their place", "[memory]") {
    const auto errors = [](const std::string& table, const std::string& fit) {
        return errors_of([&] { read(good, table, {.scenario = "", .measured = "m.csv", .fits = {fit}}); });
    };
    using Errors = std::vector<std::string>;
    const std::string head = "collective.ranks,completion_time_s\n", fit = "platform.fabric.bandwidth=0.1..20 GBps";
    CHECK(errors(head, fit) == Errors{"1:1: this table has no measurements"});
    CHECK(errors(head + "2,1\n4,2,3\n", fit) == Errors{"3:1: this line has 3 fields, but the first has 2"});
    CHECK(errors(head + "2,\"1\n", fit) == Errors{"2:3: this quote is not closed"});
    CHECK(errors(head + "2,\"1\"x\n", fit) == Errors{"2:6: missing comma or end of line after the quote"});
    CHECK(errors(head + "2,fast\n", fit).front().starts_with("2:3: 'value'"));
    CHECK(errors(head + "2,1\n4,\xff\n", fit) == Errors{"3:3: this byte is not UTF-8 text"});
    CHECK(errors("collective.ranks," + head + "2,2,1\n", fit) ==
          Errors{"1:18: column 'collective.ranks' is listed twice"});
    CHECK(errors(head + "2,1\n", "platform.fabric.bandwidth").front() == "1:1: this is not a parameter with a range");
    CHECK(errors(head + "2,1\n", "platform.fabric.bandwidth=3..2 GBps").front() == "1:30: 'most' is not above 'least'");
    CHECK(errors(head + "2,1\n", "platform.fabric.bandwidth=0.1..x GBps").front().starts_with("1:32: 'most'"));
}
