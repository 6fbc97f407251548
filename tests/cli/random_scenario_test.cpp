#include "tests/cli/random_scenario.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Whole simulations of random scenarios: they are refused with a place, or they simulate, the same each time, and
// nothing is lost on the way. tests/replay/random_folding_test.cpp and exact_test.cpp compare random plans with other
// calculations.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// Returns the bytes that all ranks together must send at least.
std::int64_t least_bytes(const std::string& operation, std::int64_t ranks, std::int64_t bytes) {
    const std::int64_t others = ranks - 1;
    if (operation == "allreduce") return 2 * others * bytes;
    if (operation == "scatter" || operation == "gather") return bytes - (bytes + others) / ranks;
    if (operation == "barrier" || operation == "neighbour-exchange") return 0;
    return others * bytes;
}

/// Returns whether an algorithm sends no more than that, with any number of ranks.
bool sends_the_least(const std::string& operation, const std::string& algorithm) {
    if (operation == "allreduce" || operation == "reduce-scatter" || operation == "allgather")
        if (algorithm == "ring" || algorithm == "segmented-ring") return true;
    if (operation == "allreduce" || operation == "broadcast" || operation == "reduce")
        if (algorithm == "binomial-tree" || algorithm == "pipelined-tree") return true;
    if (operation == "all-to-all") return algorithm == "direct" || algorithm == "pairwise";
    return (operation == "scatter" || operation == "gather") && algorithm == "direct";
}

std::int64_t sum(const json& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0},
                           [](std::int64_t so_far, const json& number) { return so_far + number.get<std::int64_t>(); });
}

void check_common(const json& result, double time_s) {
    CHECK(time_s >= 0);
    CHECK(std::isfinite(time_s));
    CHECK(result["messages_simulated"].get<std::int64_t>() + result["messages_folded"].get<std::int64_t>() ==
          result["messages"].get<std::int64_t>());
    CHECK(result["device_time_s"].get<double>() == Approx(result["ranks"].get<double>() * time_s).epsilon(1e-12));
    for (const json& link : result["links"]) CHECK(link["bytes"] <= result["bytes_sent"]);
}

void check_exchange(const RandomScenario& scenario, const json& result) {
    const double time_s = result["completion_time_s"];
    check_common(result, time_s);
    const std::int64_t sent = result["bytes_sent"];
    CHECK(sum(result["bytes_sent_by_rank"]) == sent);
    CHECK(sum(result["bytes_received_by_rank"]) == sent);
    const std::string operation = result["operation"], algorithm = result["algorithm"];
    const std::int64_t least = least_bytes(operation, scenario.ranks, scenario.bytes);
    CHECK(sent >= least);
    // Parts of scatter and gather differ by a byte.
    if (sends_the_least(operation, algorithm)) CHECK(sent <= least + (scenario.bytes % scenario.ranks == 0 ? 0 : 1));
    if (scenario.port_Bps == 0) return;
    for (const char* direction : {"bytes_sent_by_rank", "bytes_received_by_rank"})
        for (const json& bytes : result[direction])
            CHECK(bytes.get<double>() / scenario.port_Bps <= time_s * (1 + 1e-9));
}

void check_training(const json& result) {
    const double time_s = result["iteration_time_s"];
    check_common(result, time_s);
    double parts_s = 0;
    for (const char* part : {"compute_time_s", "exposed_communication_time_s", "waiting_time_s", "idle_time_s"}) {
        CHECK(result[part].get<double>() >= 0);
        parts_s += result[part].get<double>();
    }
    CHECK(parts_s == Approx(time_s).epsilon(1e-9));
    CHECK(result["exposed_communication_time_s"] <= result["communication_time_s"]);
    CHECK(result["most_bytes_sent_by_rank"] <= result["bytes_sent"]);
    for (const json& link : result["links"])
        if (link["utilisation"].is_number()) CHECK(link["utilisation"].get<double>() <= 1 + 1e-9);
    const json& split = result["parallelism"];
    const bool whole = split["columns"] == result["ranks"] && split["sharding"] == "none" && split["ranges"].empty();
    if (whole && result["exchange"] == "allreduce") {
        const std::int64_t least =
            least_bytes("allreduce", result["ranks"], result["gradient_bytes"].get<std::int64_t>());
        CHECK(result["bytes_sent"] >= least);
    }
}

struct Seen {
    int scenarios = 0, refused = 0, folded = 0;

    void check(std::uint64_t seed) {
        const RandomScenario scenario(seed);
        const TempDir directory;
        directory.write("platform.yaml", scenario.platform);
        directory.write("scenario.yaml", scenario.training);
        const bool training = !scenario.training.empty();
        std::vector<std::string> arguments{"run", "scenario.yaml"};
        if (!training) {
            arguments = {"collective", "--platform", "platform.yaml"};
            arguments.insert(arguments.end(), scenario.exchange.begin(), scenario.exchange.end());
        }
        arguments.insert(arguments.end(), {"--format", "json"});
        INFO("seed " << seed << "\n"
                     << scenario.platform << scenario.training << fmt::format("{}", fmt::join(arguments, " ")));
        ++scenarios;

        const Outcome outcome = run_in(directory, arguments);
        INFO(outcome.err);
        if (outcome.status == 3) {
            ++refused;
            CHECK(outcome.out.empty());
            CHECK(outcome.err.find(": error: ") != std::string::npos);
            return;
        }
        REQUIRE(outcome.status == 0);
        CHECK(run_in(directory, arguments).out == outcome.out);
        const auto result_of = [&](const std::string& text) {
            const json all = json::parse(text);
            return training ? all["results"][0] : all;
        };
        const json result = result_of(outcome.out);
        training ? check_training(result) : check_exchange(scenario, result);

        if (training)
            arguments.insert(arguments.end(), {"--set", "training.fidelity=folded"});
        else
            arguments.insert(arguments.end(), {"--fidelity", "folded"});
        const Outcome fold = run_in(directory, arguments);
        INFO(fold.err);
        REQUIRE(fold.status == 0);
        const json some = result_of(fold.out);
        for (const char* same : {"messages", "bytes_sent", "most_bytes_sent_by_rank"})
            CHECK(some[same] == result[same]);
        const char* time = training ? "iteration_time_s" : "completion_time_s";
        const double time_s = result[time];
        if (const json& error_s = some["folding_error_s"]; !error_s.is_null())
            CHECK(std::abs(some[time].get<double>() - time_s) <= error_s.get<double>() + 1e-9 * time_s);
        folded += some["messages_folded"] > 0;
    }

    void check(std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t seed = first; seed < end; ++seed) check(seed);
        WARN(fmt::format("{} scenarios, {} of them refused, {} folded", scenarios, refused, folded));
        CHECK(refused < scenarios * 2 / 3);  // otherwise little would be tested
    }
};

}  // namespace

TEST_CASE("random scenarios are refused or simulated, and nothing is lost, first part") {
    Seen().check(0, 20);
}

TEST_CASE("random scenarios are refused or simulated, and nothing is lost, second part") {
    Seen().check(20, 40);
}

TEST_CASE("hundreds of random scenarios are refused or simulated, and nothing is lost", "[.][slow]") {
    Seen().check(1000, 1300);
}
