#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// The time and the cost of a whole training, from its length.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// A text model of 64 tokens per sample on four ranks with 8 samples each: 32 samples, 2048 tokens per iteration.
struct Text : TinyFiles {
    Text() {
        write("text.yaml",
              "name: text\nsequence: 64\nlayers:\n"
              "  - {name: words, kind: embedding, vocabulary: 100, width: 16}\n"
              "  - {name: layer, kind: transformer, width: 16, heads: 2, hidden: 64}\n");
    }
    Outcome run_with(std::vector<std::string> more) const {
        std::vector<std::string> arguments{
            "run",   "scenario.yaml",      "--variant", "ring",
            "--set", "workload=text.yaml", "--set",     "platform.per_node.price_per_hour=3.6"};
        for (std::string& one : more) arguments.insert(arguments.end(), {"--set", std::move(one)});
        arguments.insert(arguments.end(), {"--format", "json"});
        return run_in(*this, std::move(arguments));
    }
    json result(std::vector<std::string> more) const {
        const Outcome outcome = run_with(std::move(more));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)["results"][0];
    }
};

}  // namespace

TEST_CASE("run length: a number of tokens or samples gives iterations, time and cost") {
    const Text text;
    const json none = text.result({});
    for (const char* field : {"run_iterations", "run_time_s", "run_cost"}) CHECK(!none.contains(field));
    const double samples = none["samples"], tokens = 64 * samples, iteration_s = none["iteration_time_s"];
    CHECK(none["tokens_per_s"].get<double>() == Approx(tokens / iteration_s).epsilon(1e-12));

    for (const auto& [length, iterations] : {std::pair<std::string, double>{"tokens=3 M", std::ceil(3e6 / tokens)},
                                             {"samples=1001", std::ceil(1001 / samples)},
                                             {"tokens=1", 1}}) {
        CAPTURE(length);
        const json result = text.result({"training.run." + length});
        CHECK(result["iteration_time_s"] == iteration_s);
        CHECK(result["run_iterations"] == iterations);
        CHECK(result["run_time_s"].get<double>() == Approx(iterations * iteration_s).epsilon(1e-12));
        // Four nodes at 3.6 per hour are 0.004 per second.
        CHECK(result["run_cost"].get<double>() == Approx(iterations * iteration_s * 0.004).epsilon(1e-12));
    }
    const json free = text.result({"training.run.samples=10", "platform.per_node.price_per_hour=~"});
    CHECK(free.contains("run_time_s"));
    CHECK(!free.contains("run_cost"));
}
