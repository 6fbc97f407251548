#pragma once

#include <map>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

/// Results of shipped scenarios.
namespace syncline::test {

/// Returns the results of a shipped scenario, by variant.
inline std::map<std::string, nlohmann::json> results_of(const std::string& scenario,
                                                        std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"run", shipped(scenario), "--format", "json"});
    const Outcome outcome = run_program({.arguments = std::move(options), .limit_s = 60});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    std::map<std::string, nlohmann::json> results;
    const nlohmann::json report = nlohmann::json::parse(outcome.out);
    for (const nlohmann::json& result : report.at("results")) results[result.at("variant")] = result;
    return results;
}

inline double number(const nlohmann::json& result, const char* key) {
    return result.at(key).get<double>();
}

}  // namespace syncline::test
