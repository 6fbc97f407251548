#include <cmath>

#include "tests/cli/measured.hpp"

// Options of `validate` on its rows, parameters of some series, factors, and measurements in a CSV file.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Rows : RingBench {
    Outcome validate(std::vector<std::string> options, const std::string& file = "ring.yaml") const {
        options.insert(options.begin(), {"validate", file});
        return run_in(*this, std::move(options));
    }
    /// Checks that the file is refused with these words.
    void refused(const std::vector<std::string>& words) const {
        const Outcome outcome = validate({});
        CHECK(outcome.status == 3);
        for (const std::string& word : words) {
            CAPTURE(word, outcome.err);
            CHECK(says(outcome.err, word));
        }
    }
    static std::string named(const std::string& name, const std::string& rows) {
        return RingBench::series(rows, "      name: " + name + "\n");
    }
    /// Writes rings whose rows are in a CSV file, with `keys` of `table`.
    void table(const std::string& csv, const std::string& keys, const std::string& more = "") const {
        write("times.csv", csv);
        write("ring.yaml",
              "platform: platform.yaml\n"
              "collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}\n"
              "measured:\n  source: made up\n  field: completion_time_s\n" +
                  more + "  table:\n    file: times.csv\n" + keys);
    }
    static inline const std::string columns =
        "    columns:\n"
        "      - {column: GPUs, key: collective.ranks}\n"
        "      - {column: size, key: collective.bytes, unit: KB}\n"
        "    value: time\n"
        "    unit: us\n";

    /// Writes a training with a measurement for each of some numbers of ranks.
    void training(const std::string& keys, const std::string& memory = "") const {
        std::string platform(tiny_platform);
        if (!memory.empty()) platform.replace(platform.find("  name: tiny\n"), 0, "  memory: " + memory + "\n");
        write("training-platform.yaml", platform);
        write("workload.yaml", tiny_workload);
        write("training.yaml",
              "platform: training-platform.yaml\nworkload: workload.yaml\n"
              "training: {ranks: 4, batch_per_rank: 8, input_copy: none" +
                  keys +
                  "}\nmeasured:\n  source: made up\n  field: iteration_time_s\n  series:\n"
                  "    - {over: [training.ranks], rows: [{at: [2], value: 0.01}, {at: [4], value: 0.01}]}\n");
    }
};

}  // namespace

TEST_CASE("validate: --list names the rows and simulates nothing", "[memory]") {
    const Rows bench;
    bench.scenario(Rows::named("first", Rows::row(2, 8'000'000, true) + Rows::row(4, 8'000'000, false)) +
                       RingBench::series(Rows::row(8, 16, false), "      doubt: it was late\n"),
                   RingBench::bandwidth);
    const Outcome text = bench.validate({"--list"});
    REQUIRE(text.status == 0);
    for (const char* part : {"ring: made up", "first 2/8000000 B", "calibrates", "base 8/16 B", "predicted, unreliable",
                             "collective.ranks=8; collective.bytes=16 B"})
        CHECK(says(text.out, part));
    const json rows = bench.json_of({"validate", "ring.yaml", "--list"}).at("points").at(0).at("rows");
    REQUIRE(rows.size() == 3);
    CHECK(rows[0]["name"] == "first 2/8000000 B");
    CHECK(rows[0]["role"] == "calibrates");
    CHECK(rows[1]["role"] == "predicted");
    CHECK(rows[1]["measured"].get<double>() == Approx(ring_s(4, 8e6, 2.5e9, 3e-6)));
    CHECK(rows[2]["doubt"] == "it was late");
    CHECK_FALSE(rows[2].contains("predicted"));
    // They are the names of the validation.
    const json whole = bench.json_of({"validate", "ring.yaml"}).at("points").at(0).at("rows");
    for (std::size_t i = 0; i < 3; ++i) CHECK(whole[i]["name"] == rows[i]["name"]);
    CHECK(says(bench.validate({"--list", "--format", "csv"}).out, "\nring,base 8/16 B,base,base,completion_time_s,"));
    CHECK(bench.validate({"--list", "--check"}).status == 2);
}

TEST_CASE("validate: a parameter of some series has no effect on others") {
    const Rows bench;
    const auto row = [](int bytes, double bandwidth_Bps, bool calibrates) {
        return fmt::format("        - {{at: [4, {} B], value: {}{}}}\n", bytes, ring_s(4, bytes, bandwidth_Bps, 1e-6),
                           calibrates ? ", calibrates: true" : "");
    };
    const std::string fast = Rows::named("fast", row(8'000'000, 5e9, true) + row(16'000'000, 5e9, false));
    const std::string slow = Rows::named("slow", row(4'000'000, 2e9, true) + row(32'000'000, 2e9, false));
    const auto own = [](const std::string& series) {
        return "    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 50, series: [" + series + "]}\n";
    };
    bench.scenario(fast + slow, own("fast") + own("slow"));
    const json point = bench.json_of({"validate", "ring.yaml"}).at("points").at(0);
    CHECK(point["parameters"][0]["value"].get<double>() == Approx(5).epsilon(1e-6));
    CHECK(point["parameters"][1]["value"].get<double>() == Approx(2).epsilon(1e-6));
    CHECK(point["parameters"][1]["series"] == json{"slow"});
    CHECK(point["parameters"][1]["rows"] == json{"slow 4/4000000 B"});
    CHECK(point["worst_accuracy"].get<double>() > 1 - 1e-6);

    // The other series keeps the scenario's own bandwidth of 1 GB/s.
    bench.scenario(fast + Rows::named("own", row(64'000'000, 1e9, false)), own("fast"));
    CHECK(bench.json_of({"validate", "ring.yaml"})["worst_accuracy"].get<double>() > 1 - 1e-6);

    bench.scenario(fast + slow, own("fast") + own("fast, slow"));
    bench.refused({"'platform.fabric.bandwidth' is listed twice"});
    bench.scenario(fast + slow, own("fasst"));
    bench.refused({"there is no series 'fasst'", "did you mean 'fast'?"});
    bench.scenario(fast + slow, own("slow") +
                                    "    - {key: platform.fabric.latency, unit: us, least: 0.1, most: 5, "
                                    "series: [fast], rows: [slow 4/4000000 B]}\n");
    bench.refused({"row 'slow 4/4000000 B' is in series 'slow', to which the parameter does not apply"});
}

TEST_CASE("validate: a factor multiplies the own values of several keys") {
    const Rows bench;
    const std::string factor =
        "    - {factor_of: [platform.fabric.latency, platform.fabric.bandwidth], least: 0.1, most: 10}\n";
    const auto row = [](int ranks, int bytes, bool calibrates) {
        return fmt::format("        - {{at: [{}, {} B], value: {}{}}}\n", ranks, bytes, ring_s(ranks, bytes, 3e9, 3e-6),
                           calibrates ? ", calibrates: true" : "");
    };
    bench.scenario(RingBench::series(row(4, 8'000'000, true) + row(16, 800, false) + row(8, 80'000, false)), factor);
    const json point = bench.json_of({"validate", "ring.yaml"}).at("points").at(0);
    const json found = point["parameters"][0];
    CHECK(found["value"].get<double>() == Approx(3).epsilon(1e-6));
    CHECK(found["key"] == "factor of platform.fabric.latency, platform.fabric.bandwidth");
    CHECK(found["factor_of"] == json{"platform.fabric.latency", "platform.fabric.bandwidth"});
    CHECK(point["worst_accuracy"].get<double>() > 1 - 1e-5);
    // A factor is no assignment.
    CHECK(bench.json_of({"calibrate", "ring.yaml"})["set"] == json::array());

    const auto wrong = [&](const std::string& keys, const std::vector<std::string>& words) {
        bench.scenario(RingBench::series(row(4, 8'000'000, true)), "    - {" + keys + ", least: 0.1, most: 10}\n");
        bench.refused(words);
    };
    wrong("factor_of: [platform.transport.launch]",
          {"ring.yaml:", "'platform.transport.launch' has no number that a factor could multiply"});
    wrong("factor_of: [platform.fabric.latency], key: platform.fabric.bandwidth",
          {"'key' and 'factor_of' exclude each other"});
    wrong("factor_of: [platform.fabric.latency], unit: us", {"a factor has no unit"});
    wrong("factor_of: [platform.fabric.latency, platform.fabric.bandwidth, platform.fabric.latency]",
          {"'platform.fabric.latency' is listed twice"});
    wrong("unit: us", {"missing key 'key'"});
    wrong("factor_of: [collective.bytes]", {"rows give 'collective.bytes'"});
}

TEST_CASE("validate: rows of a CSV file are those written in the scenario", "[memory]") {
    const Rows bench;
    const double big_us = 1e6 * ring_s(4, 8e6, 2.5e9, 1e-6), small_us = 1e6 * ring_s(8, 16e3, 2.5e9, 1e-6);
    const std::string parameters = "  parameters:\n" + RingBench::bandwidth;
    bench.table(fmt::format("date,GPUs,size,time,fit\n"
                            "monday,4,8000,{},true\r\n"
                            "\"tuesday, noon\", 8 ,\"16\",{},false\n\n",
                            big_us, small_us),
                Rows::columns + "    calibrates: fit\n", parameters);
    const json table = bench.json_of({"validate", "ring.yaml"}).at("points").at(0);
    bench.scenario(fmt::format("    - over: [collective.ranks, collective.bytes]\n      unit: us\n      rows:\n"
                               "        - {{at: [4, 8000 KB], value: {}, calibrates: true}}\n"
                               "        - {{at: [8, 16 KB], value: {}}}\n",
                               big_us, small_us),
                   RingBench::bandwidth);
    CHECK(table == bench.json_of({"validate", "ring.yaml"}).at("points").at(0));
    CHECK(table["rows"][1]["name"] == "base 8/16 KB");
    CHECK(table["worst_accuracy"].get<double>() > 1 - 1e-6);
}

TEST_CASE("validate: errors in a CSV file are reported in their line and column", "[memory]") {
    const Rows bench;
    const std::string head = "GPUs,size,time\n";
    const auto wrong = [&](const std::string& csv, const std::string& keys, const std::vector<std::string>& words) {
        bench.table(csv, keys);
        bench.refused(words);
    };
    wrong(head + "4,8,20\n4,16,fast\n", Rows::columns, {"times.csv:3:6: error: 'value' is 'fast', not a number"});
    wrong(head + "4,8,0\n", Rows::columns, {"times.csv:2:5: error: 'value' is zero"});
    wrong(head + "4,8,20\nfour,16,20\n", Rows::columns, {"times.csv:3:1: error: 'ranks'"});
    wrong(head + "4,8,20\n4,-16,20\n", Rows::columns, {"times.csv:3:3: error: 'bytes'"});
    wrong(head + "4,8\n", Rows::columns, {"times.csv:2:1: error: this line has 2 fields, but the first has 3"});
    wrong(head + "4,8,20\n4,8,30\n", Rows::columns, {"times.csv:3:1: error: row 'base 4/8 KB' is listed twice"});
    wrong(head, Rows::columns, {"times.csv:1:1: error: this table has no measurements"});
    wrong("GPUs,size,size,time\n4,8,8,20\n", Rows::columns, {"times.csv:1:11: error: column 'size' is listed twice"});
    wrong("GPUs,size, size,time\n4,8,8,20\n", Rows::columns, {"times.csv:1:12: error: column 'size' is listed twice"});
    wrong("gpus,size,time\n4,8,20\n", Rows::columns,
          {"ring.yaml:9:18: error: the table has no column 'GPUs'", "did you mean 'gpus'?"});
    const std::string value = "    columns: [{column: GPUs, key: collective.ranks}]\n    value: time\n";
    wrong(head + "4,8,20\n", value, {"ring.yaml:7:5: error: missing key 'unit'"});
    wrong(head + "4,8,20\n", value + "    unit: KB\n", {"'completion_time_s' has no unit 'KB'"});
    wrong(head + "4,8,20\n", value + "    unit: us\n    calibrates: size\n", {"times.csv:2:3: error: 'calibrates'"});
    bench.table("", Rows::columns);
    std::filesystem::remove(bench.path() / "times.csv");
    bench.refused({"ring.yaml:7:11: error: "});
}

TEST_CASE("validate: rows with jitter are predicted with several seeds") {
    const Rows bench;
    bench.training(", iterations: 3, jitter: {ranks: 30 %}");
    const auto rows = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {"validate", "training.yaml"});
        return bench.json_of(options).at("points").at(0).at("rows");
    };
    const json repeated = rows({"--repeat", "8", "--seed", "3"});
    CHECK(repeated == rows({"--repeat", "8", "--seed", "3", "--jobs", "1"}));
    for (std::size_t i = 0; i < 2; ++i) {
        const json run = bench
                             .json_of({"run", "training.yaml", "--repeat", "8", "--seed", "3", "--set",
                                       i == 0 ? "training.ranks=2" : "training.ranks=4"})
                             .at("results")
                             .at(0);
        const json& row = repeated[i];
        CHECK(row["repeats"] == 8);
        CHECK(row["predicted"] == run["iteration_time_mean_s"]);
        CHECK(row["predicted_median"] == run["iteration_time_median_s"]);
        CHECK(row["predicted_p05"] == run["iteration_time_p05_s"]);
        CHECK(row["predicted_p95"] == run["iteration_time_p95_s"]);
        CHECK(row["error"].get<double>() == Approx(row["predicted"].get<double>() / 0.01 - 1));
        // One seed: as before.
        const json one = rows({"--seed", "3"})[i];
        CHECK(one["predicted"] == run["iteration_time_s"]);
        CHECK_FALSE(one.contains("repeats"));
        CHECK(one["predicted"] != rows({})[i]["predicted"]);
    }
    const Outcome text = bench.validate({"--repeat", "3"}, "training.yaml");
    for (const char* heading : {"median", "5 %", "95 %"}) CHECK(says(text.out, heading));
    CHECK(says(bench.validate({"--repeat", "3", "--format", "csv"}, "training.yaml").out,
               ",settings,repeats,predicted_median,predicted_p05,predicted_p95\n"));
    // Where nothing is random, nothing is repeated.
    bench.training("");
    CHECK(bench.validate({"--repeat", "3"}, "training.yaml").out == bench.validate({}, "training.yaml").out);
}

TEST_CASE("validate: rows that do not fit into memory are simulated on request and marked") {
    const Rows bench;
    bench.training("", "1 MB");
    const Outcome refused = bench.validate({}, "training.yaml");
    CHECK(refused.status == 1);
    CHECK(says(refused.err, "row 'base 2'"));
    const json row = bench.json_of({"validate", "training.yaml", "--allow-oom"}).at("points").at(0).at("rows").at(1);
    CHECK(row["fits_memory"] == false);
    bench.training("", "1 GB");
    const json fits = bench.json_of({"validate", "training.yaml", "--allow-oom"}).at("points").at(0).at("rows").at(1);
    CHECK(fits["fits_memory"] == true);
    CHECK(fits["predicted"] == row["predicted"]);
    CHECK_FALSE(
        bench.json_of({"validate", "training.yaml"}).at("points").at(0).at("rows").at(1).contains("fits_memory"));
    bench.training("", "1 MB");
    CHECK(says(bench.validate({"--allow-oom"}, "training.yaml").out, "does not fit into memory"));
    CHECK(says(bench.validate({"--allow-oom", "--format", "csv"}, "training.yaml").out, ",fits_memory\n"));
}

TEST_CASE("validate: a table names rows, translates words, keeps the keys of empty cells and leaves rows out",
          "[memory]") {
    const Rows bench;
    // The ring of the scenario itself has two ranks: an empty cell keeps them.
    bench.table(fmt::format("id,GPUs,how,split,flag,time\n"
                            "R1,4,as a ring,calib,,{}\n"
                            "R2,,in a circle,dev,,{}\n"
                            "R3,8,as a ring,dev,swapped,1\n"
                            "R4,8,as a ring,excluded,,1\n",
                            1e6 * ring_s(4, 1e6, 2.5e9, 1e-6), 1e6 * ring_s(2, 1e6, 2.5e9, 1e-6)),
                "    row: id\n"
                "    columns:\n"
                "      - {column: GPUs, key: collective.ranks}\n"
                "      - {column: how, key: collective.algorithm, words: {as a ring: ring, in a circle: ring}}\n"
                "    value: time\n    unit: us\n"
                "    calibrates: split\n    calibrates_if: calib\n"
                "    leave_out: [{column: flag}, {column: split, text: excluded}]\n",
                "  parameters:\n" + RingBench::bandwidth);
    const json table = bench.json_of({"validate", "ring.yaml"}).at("points").at(0);
    REQUIRE(table["rows"].size() == 2);
    CHECK(table["rows"][0]["name"] == "base R1");
    CHECK(table["rows"][0]["role"] == "calibrates");
    CHECK(table["rows"][1]["name"] == "base R2");
    CHECK(table["worst_accuracy"].get<double>() > 1 - 1e-6);
    CHECK(table["left_out"] == json::parse(R"([{"reason": "flag: swapped", "rows": 1},
                                               {"reason": "split: excluded", "rows": 1}])"));
}

TEST_CASE("validate: a word without a meaning is reported where it stands", "[memory]") {
    const Rows bench;
    bench.table("GPUs,how,time\n4,as a rnig,20\n",
                "    columns:\n      - {column: GPUs, key: collective.ranks}\n"
                "      - {column: how, key: collective.algorithm, words: {as a ring: ring}}\n"
                "    value: time\n    unit: us\n");
    bench.refused({"times.csv:2:3: error: 'words' has no value for 'as a rnig'", "did you mean 'as a ring'?"});
}
