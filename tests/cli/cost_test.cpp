#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Resources and costs of trainings and exchanges.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Tiny : TinyFiles {
    std::string answer(std::vector<std::string> arguments, const std::vector<std::string>& more = {}) const {
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run_in(*this, std::move(arguments));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    }
};

const std::vector<std::string> run{"run", "scenario.yaml"};
const std::vector<std::string> collective{"collective", "--platform", "platform.yaml", "--ranks", "4"};
const std::vector<std::string> priced{"--set", "platform.per_node.price_per_hour=3.6"};
const std::vector<std::string> as_json{"--format", "json"};

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

TEST_CASE("cost: a training costs its nodes and its time, servers' nodes included", "[memory]") {
    const Tiny tiny;
    const json results = json::parse(tiny.answer(run + priced + as_json))["results"];
    for (const auto& [number, nodes] : {std::pair{0, 4}, std::pair{1, 4}, std::pair{2, 6}}) {
        const json& result = results[static_cast<std::size_t>(number)];
        const double seconds = result["iteration_time_s"];
        CHECK(result["samples"] == 32);
        CHECK(result["nodes"] == nodes);
        CHECK(result["device_time_s"].get<double>() == Approx(4 * seconds).epsilon(1e-12));
        CHECK(result["cost"].get<double>() == Approx(nodes * seconds / 1000).epsilon(1e-12));
        CHECK(result["cost_per_million_samples"].get<double>() == Approx(nodes * seconds * 1000 / 32).epsilon(1e-12));
    }
    CHECK(tiny.answer(run + priced + std::vector<std::string>{"--wide"}).find("per million samples") !=
          std::string::npos);
}

TEST_CASE("cost: two ranks on a node pay for one node, and a node without a price has no cost") {
    const Tiny tiny;
    const std::vector<std::string> two{
        "--set", "platform.per_node={devices: 2, links: {pattern: switch, bandwidth: 1 GBps, latency: 1 us}}"};
    const json report = json::parse(tiny.answer(run + two + as_json));
    for (const json& result : report["results"]) {
        CHECK(result["nodes"] == (result["variant"] == "servers" ? 4 : 2));
        CHECK(result["cost"].is_null());
        CHECK(result["cost_per_million_samples"].is_null());
        CHECK(result["device_time_s"].get<double>() > 0);
    }
    CHECK(tiny.answer(run + two).find("cost") == std::string::npos);
    const json free = json::parse(
        tiny.answer(run + std::vector<std::string>{"--set", "platform.per_node.price_per_hour=0"} + as_json));
    CHECK(free["results"][0]["cost"] == 0.0);
}

TEST_CASE("cost: an exchange alone has a cost for each size") {
    const Tiny tiny;
    const std::vector<std::string> one{"--bytes", "1kB"}, several{"--sweep", "bytes=1kB,1MB"};
    const json single = json::parse(tiny.answer(collective + one + priced + as_json));
    const json points = json::parse(tiny.answer(collective + several + priced + as_json))["points"];
    for (const json& result : {single, points[0], points[1]}) {
        const double seconds = result["completion_time_s"];
        CHECK(result["nodes"] == 4);
        CHECK(result["device_time_s"].get<double>() == Approx(4 * seconds).epsilon(1e-12));
        CHECK(result["cost"].get<double>() == Approx(4 * seconds / 1000).epsilon(1e-12));
    }
    CHECK(json::parse(tiny.answer(collective + one + as_json))["cost"].is_null());
    CHECK(tiny.answer(collective + one + priced).find("\ncost") != std::string::npos);
}

TEST_CASE("cost: CSV has the same costs, and a price is a number of at least zero", "[memory]") {
    const Tiny tiny;
    const std::string csv = tiny.answer(run + priced + std::vector<std::string>{"--format", "csv"});
    CHECK(csv.find(",nodes,samples,device_time_s,cost,cost_per_million_samples,") != std::string::npos);
    for (const char* price : {"-1", "12 EUR", "unlimited"}) {
        CAPTURE(price);
        const Outcome outcome = run_in(
            tiny, run + std::vector<std::string>{"--set", std::string("platform.per_node.price_per_hour=") + price});
        CHECK(outcome.status == 3);
        CHECK(outcome.err.find("'price_per_hour'") != std::string::npos);
    }
}
