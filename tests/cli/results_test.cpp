#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"
#include "tests/cli/scenario.hpp"

// Results as users read them: the kind of scaling, waiting times, and fractions of the peak.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Run : TinyFiles {
    std::string output(std::vector<std::string> options) const {
        options.insert(options.begin(), {"run", "scenario.yaml"});
        const Outcome outcome = run_in(*this, std::move(options));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    }
    json first(std::vector<std::string> options = {}) const {
        options.insert(options.end(), {"--format", "json"});
        return json::parse(output(std::move(options))).at("results").at(0);
    }
    std::string heading(std::vector<std::string> options = {}) const {
        options.emplace_back("--wide");
        const std::string table = output(std::move(options));
        const auto begin = table.find("\nvariant");
        return table.substr(begin + 1, table.find('\n', begin + 1) - begin - 1);
    }
};

const std::string fixed_batch = "training={ranks: 4, batch: 8, input_copy: none, servers: {count: 2}}";

}  // namespace

TEST_CASE("results: the efficiency is that of weak or strong scaling, and names it") {
    Run run;
    CHECK(run.first()["scaling"] == "weak");
    CHECK(holds(run.output({}), ", scaling weak"));
    CHECK(holds(run.heading(), "efficiency"));
    CHECK(holds(run.output({"--format", "csv"}), ",weak,"));
    // 2 FLOP per multiply-accumulate at 1 TFLOP/s; the first layer has 1e6 in 2 passes, the second 3e6 in 3.
    const double sample_s = 2 * (2 * 1e6 + 3 * 3e6) / 1e12;
    const json strong = run.first({"--set", fixed_batch});
    CHECK(strong["scaling"] == "strong");
    CHECK(strong["scaling_efficiency"].get<double>() ==
          Approx(8 * sample_s / (4 * strong["iteration_time_s"].get<double>())).epsilon(1e-6));
    CHECK(holds(run.output({"--set", fixed_batch}), ", scaling strong"));
    run.write("scenario.yaml",
              "platform: platform.yaml\nworkload: workload.yaml\nvariants:\n  a: {training: {ranks: 2, batch: 8}}\n"
              "  b: {training: {ranks: 2, batch_per_rank: 8}}\n");
    const std::string mixed = run.heading();
    CHECK(holds(mixed, "scaling  efficiency"));
    CHECK_FALSE(holds(mixed, "weak"));
}

TEST_CASE("results: a column shows the waiting time if a variant waits") {
    const Run run;
    // Otherwise a worker that has pushed waits for the latency, until the server answers.
    CHECK_FALSE(holds(run.heading({"--set", "platform.network.latency=blocking"}), "waiting"));
    const std::vector<std::string> cycle{"--set", "training.fusion={threshold: 1 GB, cycle: 1 ms}"};
    CHECK(holds(run.heading(cycle), "waiting"));
    CHECK_FALSE(holds(run.heading(cycle), "idle"));
    const json result = run.first(cycle);
    // Gradients are ready after 8 samples' passes, 176 us, and leave at 1 ms.
    CHECK(result["waiting_time_s"].get<double>() == Approx(1e-3 - 176e-6).epsilon(1e-6));
    CHECK(result["idle_time_s"] == 0);
}

TEST_CASE("results: utilisations are fractions of the peak, and a note names missing measurements") {
    Run run;
    const json result = run.first();
    const double flop = 8 * 2 * (2 * 1e6 + 3 * 3e6), time_s = result["iteration_time_s"];
    CHECK(result["model_flops_utilisation"].get<double>() == Approx(flop / time_s / 1e12));
    CHECK(result["hardware_flops_utilisation"].get<double>() == Approx(flop / time_s / 1e12));
    CHECK(result["tflops_per_device"].get<double>() == Approx(flop / time_s / 1e12));
    CHECK(result["tokens_per_s"].is_null());
    REQUIRE(result["notes"].size() == 1);
    CHECK(holds(result["notes"][0], "assume the device's peak: no measurement supports them"));
    CHECK(holds(run.output({"--format", "csv"}), "assume the device's peak"));
    CHECK(holds(run_in(run, {"explain", "scenario.yaml", "--no-what-if"}).out, "note: compute times assume"));
    CHECK(run_in(run, {"run", "scenario.yaml", "--report", "page.html"}).status == 0);
    CHECK(holds(read_file(run / "page.html"), "no measurement supports them"));

    // A sequence has 16 tokens; a measured device has no such note.
    run.write("workload.yaml",
              "name: tokens\nsequence: 16\nlayers:\n"
              "  - {name: embedding, kind: embedding, vocabulary: 100, width: 8}\n"
              "  - {name: head, kind: dense, inputs: 8, outputs: 100}\n");
    const json tokens = run.first({"--set",
                                   "platform.device.calibration={tokens: {batch: 8, throughput: 1000 images/s, "
                                   "source: chosen}}"});
    CHECK(tokens["notes"].empty());
    CHECK(tokens["tokens_per_s"].get<double>() ==
          Approx(16 * tokens["throughput_samples_per_s"].get<double>()).epsilon(1e-9));
}

TEST_CASE("results: an error of a value names its option and is not a bug", "[memory]") {
    const StudyBench bench(2);
    REQUIRE(run_program(bench.batch()).status == 0);
    for (const char* option : {"--where", "--sort", "--columns"})
        for (const std::string format : {"table", "jsonl"}) {
            const Outcome outcome =
                run_in(bench, {"results", "out", option, "abs(-9223372036854775807 - point / point)", "--format",
                               format, "--report", "page.html"});
            CAPTURE(option, outcome.err);
            CHECK(outcome.status == 3);
            CHECK(holds(outcome.err, "integer overflow"));
            CHECK(holds(outcome.err, option));
        }
    for (const std::string option : {"--x", "--y", "--series", "--where"}) {
        std::vector<std::string> plot{"plot", "out", option, "abs(-9223372036854775807 - point / point)"};
        for (const char* axis : {"--x", "--y"})
            if (option != axis) plot.insert(plot.end(), {axis, "point"});
        const Outcome outcome = run_in(bench, plot);
        CAPTURE(option, outcome.err);
        CHECK(outcome.status == 3);
        CHECK(holds(outcome.err, option + ":1:1: error: integer overflow"));
    }
}

TEST_CASE("results: expressions that would compute for minutes are refused, or take no time") {
    const StudyBench bench(2);
    REQUIRE(run_program(bench.batch()).status == 0);
    const std::string many(30'000, 'a');
    std::string sum = "point";
    while (sum.size() < 100'000) sum = "(" + sum + "+" + sum + ")";
    for (const std::string& expression :
         {std::string("(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c) > 0"),
          std::string("point IN (SELECT 1)"), std::string("hex(run_id) = 'x'"),
          std::string("printf('%.*c', 1000000000, 'x')"), std::string("zeroblob(1000000000)"),
          std::string("replace(run_id, 'a', 'aa')"), std::string("json('{')"), std::string("point REGEXP '(a*)*b'"),
          "'" + many + "' LIKE '%" + many + "b'", "'" + many + "' GLOB '*" + many + "b'"})
        for (const char* option : {"--where", "--columns", "--sort"}) {
            const Outcome outcome = run_in(bench, {"results", "out", option, expression});
            CAPTURE(option, expression.substr(0, 100), outcome.err.substr(0, 500));
            CHECK(outcome.status == 3);
            CHECK(holds(outcome.err, std::string(option) + ":1:"));
        }
    CHECK(run_in(bench, {"results", "out", "--columns", sum}).status == 0);
}

TEST_CASE("results: names of variants are texts, whatever they look like") {
    const std::vector<std::string> names{"1e5", "100000", "100", "1e2", "007", "true", "null", "0x10", "1 Gbps", "-5"};
    TempDir bench;
    bench.write("platform.yaml", tiny_platform);
    std::string scenario{small_exchange}, axis;
    scenario += "variants:\n";
    for (std::size_t i = 0; i < names.size(); ++i) {
        scenario += "  \"" + names[i] + "\": {collective: {bytes: " + std::to_string(i + 1) + " kB}}\n";
        axis += (i == 0 ? "\"" : ", \"") + names[i] + "\"";
    }
    bench.write("exchange.yaml", scenario);
    bench.write("study.yaml", "base: exchange.yaml\naxes: {variant: [" + axis + "]}\n");
    REQUIRE(run_in(bench, {"batch", "study.yaml", "--out", "out"}).status == 0);
    const auto found = [&](const std::string& condition) {
        const Outcome outcome = run_in(bench, {"results", "out", "--where", condition, "--format", "json", "--columns",
                                               "variant, completion_time_s"});
        CAPTURE(condition, outcome.err);
        REQUIRE(outcome.status == 0);
        std::vector<std::string> variants;
        const json report = json::parse(outcome.out);
        for (const json& point : report["points"]) variants.push_back(point["variant"]);
        return variants;
    };
    using Names = std::vector<std::string>;
    for (const std::string& name : names) {
        CHECK(found("variant = '" + name + "'") == Names{name});
        CHECK(found("variant == \"" + name + "\"") == Names{name});
        CHECK(found("'" + name + "' = variant") == Names{name});
        CHECK(found("(variant) IS '" + name + "'") == Names{name});
        CHECK(found("variant IN ('x', '" + name + "')") == Names{name});
        CHECK(found("variant BETWEEN '" + name + "' AND '" + name + "'") == Names{name});
        CHECK(found("variant LIKE '" + name + "'") == Names{name});
        CHECK(found("instr(variant, '" + name + "') = 1 AND length(variant) = " + std::to_string(name.size())) ==
              Names{name});
        CHECK(found("upper(variant) = upper('" + name + "')") == Names{name});
        CHECK(found("variant != '" + name + "'").size() == names.size() - 1);
        if (name == "1 Gbps") continue;  // without quotes it is no single word
        CHECK(found("variant == " + name) == Names{name});
        CHECK(found("variant in (" + name + ")") == Names{name});
        CHECK(found("not variant != " + name + " and completion_time_s < '1 s'") == Names{name});
    }
    CHECK(found("variant IS NULL").empty());
    CHECK(found("variant IS NOT NULL").size() == names.size());
    CHECK(run_in(bench, {"results", "out", "--where", "variant = 1 Gbps"}).status == 3);
    CHECK(run_in(bench, {"results", "out", "--where", "\"vraiant\" = 5"}).status == 3);

    const std::string csv =
        run_in(bench, {"results", "out", "--group", "variant", "--columns", "completion_time_s", "--format", "csv"})
            .out;
    const Outcome best = run_in(bench, {"explore", "study.yaml", "--objective", "completion_time_s", "--out", "out"});
    const Outcome drawn =
        run_in(bench, {"plot", "out", "--x", "variant", "--y", "completion_time_s", "--out", "p.svg"});
    CAPTURE(csv, best.out, best.err, drawn.err);
    CHECK(drawn.status == 0);
    CHECK(best.status == 0);
    const std::string picture = read_file(bench / "p.svg");
    for (const std::string& name : names) {
        CHECK(holds(csv, (name == "-5" ? "\n'" : "\n") + name + ",1,"));  // no formula of a spreadsheet
        CHECK(holds(best.out, " " + name + " "));
        CHECK(holds(picture, ">" + name + "<"));
    }
}

TEST_CASE("results: settings that are flags and texts of results are compared as they are written", "[memory]") {
    TempDir bench;
    bench.write("platform.yaml", tiny_platform);
    const std::string layers =
        "input: [1, 1, 1]\nlayers:\n  - {name: one, kind: custom, parameters: 1000, macs: 1000}\n";
    bench.write("one.yaml", "name: 1e5\n" + layers);
    bench.write("training.yaml",
                "platform: platform.yaml\nworkload: one.yaml\n"
                "training: {ranks: 2, batch_per_rank: 1, exchange: parameter-server, servers: {count: 1}}\n");
    bench.write("study.yaml",
                "base: training.yaml\n"
                "axes: {training.servers.local_reduction: [true, false]}\n");
    REQUIRE(run_in(bench, {"batch", "study.yaml", "--out", "out"}).status == 0);
    const auto count = [&](const std::string& condition) {
        const Outcome outcome = run_in(bench, {"results", "out", "--where", condition, "--format", "json"});
        CAPTURE(condition, outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)["points"].size();
    };
    CHECK(count("local_reduction = true") == 1);
    CHECK(count("local_reduction != true") == 1);
    CHECK(count("local_reduction = 'false'") == 1);
    CHECK(count("local_reduction IS NULL") == 0);
    CHECK(count("model = '1e5'") == 2);
    CHECK(count("model = 1e5") == 2);
    CHECK(count("model = 100000.0") == 0);
    CHECK(count("ranks = 2 and repeat = '1'") == 2);
}
