#include <cmath>
#include <set>

#include "tests/cli/results.hpp"
#include "tests/cli/scenario.hpp"

// Checks how results describe a split model and `model: auto`, on small scenarios and on scenarios/gholami-2018.yaml,
// whose times are those of tests/replay/grid_test.cpp; and the effect of efficiency on the best grid, on
// scenarios/gholami-2018-efficiency.yaml.

using namespace syncline::test;
using nlohmann::json;

namespace {

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::string gholami = shipped("scenarios/gholami-2018.yaml");

/// Returns the file's variants, each on 8 ranks, so that all have the same grids.
Outcome on_8_ranks(const std::string& format) {
    Outcome outcome =
        run_program({.arguments = {"run", gholami, "--set", "training.ranks=8", "--wide", "--format", format}});
    REQUIRE(outcome.status == 0);
    return outcome;
}

/// Six ranks, which no power of two divides; no device runs out of memory.
struct Split : TempDir {
    Split() { write("platform.yaml", tiny_platform); }

    Outcome run(const std::string& workload, const std::string& training, const std::string& variants,
                const std::string& format) const {
        write("scenario.yaml", "platform: platform.yaml\nworkload: " + shipped("workloads/" + workload + ".yaml") +
                                   "\ntraining: {" + training + "}\nvariants:\n" + variants);
        Outcome outcome = run_program(
            {.arguments = {"run", "scenario.yaml", "--format", format}, .directory = path(), .limit_s = 60});
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome;
    }

    std::vector<json> results(const std::string& workload, const std::string& training,
                              const std::string& variants) const {
        return json::parse(run(workload, training, variants, "json").out).at("results");
    }
};

json without_name(json result) {
    result.erase("variant");
    return result;
}

constexpr const char* products =
    R"(  stages: {training.parallelism: {pipeline: {stages: 2, micro_batches: 2}, model: 2}}
  chunks: {training.parallelism: {pipeline: {stages: 2, micro_batches: 2, schedule: interleaved, virtual_stages: 2}}}
  images: {training.parallelism: {domain: {height: 2, width: 1}, layers: [{first: fc6, last: fc8, model: 2}]}}
  shards: {training.parallelism: {sharding: parameters}}
  data: {}
)";

}  // namespace

TEST_CASE("model: auto: every factorisation is a choice, and the shortest iteration of each variant is the best",
          "[memory]") {
    const json results = json::parse(on_8_ranks("json").out).at("results");
    REQUIRE(results.size() == 6 * 4);
    std::map<std::string, double> shortest, best;
    std::map<std::string, std::set<std::int64_t>> rows_of;
    for (const json& result : results) {
        CAPTURE(result.at("variant"));
        const std::string of = result.at("choice_of");
        const bool dense = of.rfind("dense", 0) == 0;
        const json& split = result.at("parallelism");
        REQUIRE(split.at("ranges").size() == (dense ? 1 : 0));
        const json& grid = dense ? split.at("ranges").at(0) : split;
        const std::int64_t rows = grid.at("rows"), columns = grid.at("columns");
        CHECK(rows * columns == 8);
        CHECK(result.at("variant") == of + " " + std::to_string(rows) + "x" + std::to_string(columns));
        rows_of[of].insert(rows);
        if (dense) {
            CHECK(split.at("columns") == 8);
            CHECK(grid.at("first") == "fc6");
            CHECK(grid.at("last") == "fc8");
        }
        const double seconds = number(result, "iteration_time_s");
        shortest.try_emplace(of, seconds);
        shortest[of] = std::min(shortest[of], seconds);
        if (!result.at("best").get<bool>()) continue;
        CHECK(best.count(of) == 0);
        best[of] = seconds;
    }
    CHECK(best == shortest);
    CHECK(best.size() == 6);
    for (const auto& [of, rows] : rows_of) CHECK(rows == std::set<std::int64_t>{1, 2, 4, 8});
}

TEST_CASE("model: auto: the table marks the best and explains the mark, and CSV has the grids") {
    const std::string table = on_8_ranks("table").out;
    CHECK(holds(table, "\nall-8 1x8 *  "));
    CHECK(holds(table, "\nall-8 2x4    "));
    CHECK(holds(table, "\ndense-8 4x2 *  "));
    CHECK(holds(table, "  data 8  "));
    CHECK(holds(table, "  model 2, data 4  "));
    CHECK(holds(table, "  data 8; fc6..fc8 model 4, data 2  "));
    CHECK(holds(table, "\n* shortest iteration among a variant's grids (`model: auto`)\n"));
    const std::string csv = on_8_ranks("csv").out;
    CHECK(holds(csv, ",1,8,1,1,1,1,,1,none,false,fc6..fc8 4x2,dense-8,true,"));
    CHECK(holds(csv, ",2,4,1,1,1,1,,1,none,false,,all-8,false,"));
}

TEST_CASE("model: auto: expectations may refer to its choices, and an unknown choice is reported", "[memory]") {
    const TempDir directory;
    CHECK(run_program({.arguments = {"check", gholami}}).status == 0);
    std::string text = read_file(gholami);
    const std::string name = "variant: all-8 8x1,";
    REQUIRE(holds(text, name));
    text.replace(text.find(name), name.size(), "variant: all-8 9x1,");
    const std::string workload = "../workloads/";
    text.replace(text.find(workload), workload.size(), shipped("workloads/"));
    directory.write("scenario.yaml", text);
    const Outcome outcome = run_in(directory, {"check", "scenario.yaml"});
    CHECK(outcome.status == 3);
    CHECK(holds(outcome.err, "there is no variant 'all-8 9x1'"));
    CHECK(holds(outcome.err, "did you mean 'all-8 8x1'?"));
}

TEST_CASE("results say how the model is split", "[memory]") {
    const Split split;
    const std::string training = "ranks: 8, batch_per_rank: 8, iterations: 1";
    const auto results = split.results("alexnet-nogroup", training, products);
    REQUIRE(results.size() == 5);
    const auto of = [&](std::size_t variant) { return results[variant].at("parallelism"); };
    const json stages = of(0), chunks = of(1), images = of(2), shards = of(3), data = of(4);
    CHECK(stages == json::parse(R"({"rows": 2, "columns": 2, "height": 1, "width": 1, "stages": 2, "micro_batches": 2,
        "schedule": "1f1b", "chunks": 1, "sharding": "none", "sequence": false, "transfers": "blocking",
        "scatter_gather": true, "gradient_sync": "last-micro-batch", "ranges": []})"));
    CHECK(chunks.at("transfers") == "overlapped");
    CHECK_FALSE(shards.contains("transfers"));
    CHECK_FALSE(shards.contains("gathering"));  // weights are gathered before each pass, not after an update
    CHECK(chunks.at("schedule") == "interleaved");
    CHECK(chunks.at("chunks") == 2);
    CHECK(chunks.at("columns") == 4);
    CHECK(images.at("height") == 2);
    CHECK(images.at("width") == 1);
    CHECK(images.at("columns") == 4);
    CHECK(images.at("ranges") == json::parse(R"([{"first": "fc6", "last": "fc8", "rows": 2, "columns": 4, "height": 1,
        "width": 1}])"));
    CHECK(shards.at("sharding") == "parameters");
    CHECK(data.at("schedule").is_null());
    CHECK(data.at("columns") == 8);
    for (const json& result : results) {
        CHECK(result.at("choice_of").is_null());
        CHECK(result.at("best").is_null());
    }
    const std::string table = run_in(split, {"run", "scenario.yaml", "--columns", "split"}).out;
    CHECK(holds(table, "\nstages   pipeline 2, model 2, data 2; 2 microbatches 1f1b\n"));
    CHECK(holds(table, "\nchunks   pipeline 2, data 4; "));
    CHECK(holds(table, "\nimages   domain 2x1, data 4; fc6..fc8 model 2, data 4\n"));
    CHECK(holds(table, "\nshards   data 8; sharded parameters\n"));
    CHECK(holds(table, "\ndata     data 8\n"));
    CHECK_FALSE(holds(table, "*"));
    CHECK_FALSE(holds(split.run("alexnet-nogroup", training, "  data: {}\n", "table").out, "split"));
}

TEST_CASE("a grid of one row is data parallelism, and a grid of one column is model parallelism, exactly") {
    const Split split;
    const std::string workload = GENERATE("alexnet-nogroup", "gpt-2");
    const std::string overlap = GENERATE("none", "wait-free");
    CAPTURE(workload, overlap);
    const auto results =
        split.results(workload, "ranks: 6, batch: 12, iterations: 3, fusion: {threshold: 8 MiB}, overlap: " + overlap,
                      "  data: {training.parallelism: data}\n"
                      "  row: {training.parallelism: {model: 1, data: 6}}\n"
                      "  model: {training.parallelism: model}\n"
                      "  column: {training.parallelism: {model: 6, data: 1}}\n"
                      "  automatic: {training.parallelism: {model: auto}}\n");
    REQUIRE(results.size() == 4 + 4);
    CHECK(without_name(results[1]) == without_name(results[0]));
    CHECK(without_name(results[3]) == without_name(results[2]));
    CHECK(results[2] != results[0]);
    for (const char* key : {"iteration_time_s", "communication_time_s", "bytes_sent", "messages", "links", "memory"}) {
        CAPTURE(key);
        CHECK(results[4].at(key) == results[0].at(key));
        CHECK(results[7].at(key) == results[2].at(key));
        CHECK(results[2].at(key) != results[0].at(key));
    }
}

TEST_CASE("gholami-2018-efficiency: fewer columns compute faster, and that alone makes the best grid interior",
          "[memory]") {
    // Four layers of 12288 x 12288 on eight A100s: 11 products of a microbatch of 192·Pr samples, 12288/Pr outputs.
    // Fractions of 312 Tflops: LLMCompass measured 193 and 242.7 Tflops with 128 and 256 rows, Azure 250.8 with 6144.
    const auto between = [](double x, double from, double part, double to, double end) {
        return part * std::pow(end / part, std::log(x / from) / std::log(to / from));
    };
    const std::map<std::int64_t, double> parts{{1, between(192, 128, 193 / 312.0, 256, 242.7 / 312)},
                                               {2, between(384, 256, 242.7 / 312, 6144, 250.8 / 312)},
                                               {4, between(768, 256, 242.7 / 312, 6144, 250.8 / 312)},
                                               {8, between(1536, 256, 242.7 / 312, 6144, 250.8 / 312)}};
    const double n = 12288, peak_s = 64 * 11 * 2 * 192 * n * n / 312e12;
    const auto results = results_of("scenarios/gholami-2018-efficiency.yaml");
    REQUIRE(results.size() == 8);
    for (const auto& [rows, part] : parts) {
        const double r = static_cast<double>(rows), columns = 8 / r;
        // Outputs and gradients of inputs go to all rows, gradients of weights to all columns; gradients are summed.
        const double inputs = 3 * (r - 1) * 64 * 192 * n, weights = 4 * (columns - 1) / columns / r * n * n;
        const double outputs = 4 * (r - 1) * 64 * 192 * n, added = inputs + weights;
        const double exchange_s = 2 * (outputs + 2 * added) / 300e9 + 2 * added / 679.7e9;
        const std::string grid = " " + std::to_string(rows) + "x" + std::to_string(8 / rows);
        const json &constant = results.at("constant" + grid), &measured = results.at("measured" + grid);
        CAPTURE(grid, part);
        CHECK(number(constant, "compute_time_s") == Approx(peak_s).epsilon(1e-6));
        CHECK(number(measured, "compute_time_s") == Approx(peak_s / part).epsilon(1e-3));
        for (const json& result : {constant, measured})
            CHECK(number(result, "communication_time_s") == Approx(exchange_s).epsilon(1e-3));
        CHECK(constant.at("best").get<bool>() == (rows == 1));
        CHECK(measured.at("best").get<bool>() == (rows == 2));
        if (rows > 1) {
            const std::string before = " " + std::to_string(rows / 2) + "x" + std::to_string(16 / rows);
            CHECK(number(measured, "compute_time_s") < number(results.at("measured" + before), "compute_time_s"));
        }
    }
}
