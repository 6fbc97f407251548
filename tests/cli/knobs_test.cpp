#include <algorithm>
#include <string>
#include <vector>

#include "sim/config/scenario.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Tests that each lesson simulates with each value of each of its knobs, as the live page asks for it.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// Returns the time of each result: an iteration's, or a sweep's sizes' together.
std::vector<double> times_of(const json& result) {
    std::vector<double> times;
    for (const json& variant : result.at("results")) {
        double time = 0;
        if (variant.contains("points"))
            for (const json& point : variant.at("points")) time += point.at("completion_time_s").get<double>();
        else
            time = variant.contains("iteration_time_s") ? variant.at("iteration_time_s").get<double>()
                                                        : variant.at("completion_time_s").get<double>();
        times.push_back(time);
    }
    return times;
}

}  // namespace

TEST_CASE("Lessons simulate with every value of their knobs, and no faster on less bandwidth", "[lesson]") {
    std::size_t simulations = 0;
    double cpu_s = 0;
    for (const auto& entry : fs::directory_iterator(shipped("scenarios/lessons"))) {
        if (entry.path().extension() != ".yaml") continue;
        const std::string file = entry.path().string();
        for (const syncline::config::Knob& knob : syncline::config::load_scenario(file, {}).knobs) {
            std::vector<double> before;
            for (const std::string& value : knob.values) {
                CAPTURE(file, knob.key, value);
                const Outcome outcome = run_program(
                    {.arguments = {"run", file, "--set", knob.key + "=" + value, "--format", "json"}, .limit_s = 120});
                CAPTURE(outcome.err);
                REQUIRE(outcome.status == 0);
                const std::vector<double> times = times_of(json::parse(outcome.out));
                REQUIRE_FALSE(times.empty());
                simulations += times.size();
                cpu_s += outcome.seconds;
                for (std::size_t i = 0; i < times.size(); ++i) {
                    CHECK(times[i] > 0);
                    if (knob.key.ends_with("bandwidth") && !before.empty())
                        CHECK(times[i] <= before.at(i) * (1 + 1e-9));
                }
                before = times;
            }
        }
    }
    CHECK(simulations > 1000);
    WARN(simulations << " simulations of 20 lessons with one knob turned, in " << cpu_s << " s");
}
