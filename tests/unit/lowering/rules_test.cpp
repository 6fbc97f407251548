#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "sim/check/check.hpp"
#include "sim/document/shared_schema.hpp"
#include "sim/lowering/rule_table.hpp"
#include "sim/lowering/rules.hpp"
#include "tests/catch.hpp"

// The table of rules. What each rule refuses is in tests/cases and feasibility_test.cpp.

using namespace syncline;
using nlohmann::json;

namespace {

/// Returns whether a JSON Schema knows the key at `path`.
bool knows(const json& schema, const std::string& path) {
    if (schema.contains("anyOf"))
        for (const json& type : schema["anyOf"])
            if (knows(type, path)) return true;
    if (path.empty()) return true;
    std::istringstream parts(path);
    std::string first, rest;
    std::getline(parts, first, '.');
    std::getline(parts, rest);
    return schema.contains("properties") && schema["properties"].contains(first) &&
           knows(schema["properties"][first], rest);
}

}  // namespace

TEST_CASE("rules: the scenario's schema knows every key, and the first of two is one to blame", "[memory]") {
    const json keys = config::expanded(json::parse(config::schema_of("scenario")))["properties"];
    const auto known = [&](const Setting& setting) {
        const std::string key(setting.key);
        return knows(keys["training"], key) || knows(keys["collective"], key);
    };
    for (const Rule& rule : rule_table()) {
        CAPTURE(rule.why);
        CHECK_FALSE(rule.settings.empty());
        CHECK_FALSE(rule.write.empty());
        for (const Setting& setting : rule.settings) CHECK((!setting.key.empty() && known(setting)));
        CHECK((known(rule.other) || (rule.other.key.empty() && !rule.other.value.empty())));
    }
}

TEST_CASE("rules: the settings of a plan without any written break none", "[memory]") {
    CHECK(broken_rules(Plan(), OpenPlan()).empty());
    CHECK(broken_rules(CollectivePlan(), OpenPlan()).empty());
}

TEST_CASE("rules: a key that has no effect is a complaint only if it is written", "[memory]") {
    Plan plan;
    plan.exchange = ExchangeKind::parameter_server;
    OpenPlan open;
    CHECK(broken_rules(plan, open).empty());
    open.written = {"segment", "ranks"};
    const Complaints found = broken_rules(plan, open);
    REQUIRE(found.size() == 1);
    CHECK(found[0].key == "segment");
    CHECK(found[0].message == "'segment' has no effect with a parameter server");
}

TEST_CASE("rules: the list of all has no name of a value", "[memory]") {
    std::istringstream lines(rules_reference());
    std::set<std::string> all;
    for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK((line.starts_with("- `") || line.starts_with("- each of `")));
        CHECK(line.ends_with("."));
        for (const char* name : {"{setting}", "{other}", "{device}", "{workload}", "{platform}"})
            CHECK(line.find(name) == std::string::npos);
        CHECK(all.insert(line).second);
    }
    CHECK(all.size() == rule_table().size());
}
