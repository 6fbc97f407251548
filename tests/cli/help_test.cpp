#include <nlohmann/json.hpp>

#include "sim/document/shared_schema.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Help describes an option as the JSON Schemas describe the key that it sets.

using namespace syncline::test;
using nlohmann::json;

namespace {

std::string help_of(const std::string& verb) {
    const Outcome outcome = run_program({.arguments = {verb, "--help"}});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return outcome.out;
}

json schema_in(const std::string& folder) {
    return syncline::config::expanded(json::parse(read_file(shipped(folder + "/schema.json"))));
}

/// Returns the description of a key as help shows it: without its full stop, with "(default: x)" and "(required)" as in
/// other options, and with the names of those of `options` that it mentions.
std::string description(const json& property, const json& options = json::object()) {
    std::string text = property["description"];
    REQUIRE(text.ends_with('.'));
    text.pop_back();
    const std::size_t given = text.rfind(". Default: "), required = text.rfind(". Required");
    if (given != text.npos) {
        std::string value = text.substr(given + 11);
        std::erase(value, '`');
        text = text.substr(0, given) + " (default: " + value + ")";
    } else if (required != text.npos) {
        text = text.substr(0, required) + " (r" + text.substr(required + 3) + ")";
    }
    for (const auto& [key, unused] : options.items())
        for (std::size_t at; (at = text.find("`" + key + "`")) != text.npos;)
            text.replace(at, key.size() + 2, "--" + key);
    return text;
}

/// Calls `visit` with the path and the description of each key of a mapping, and of those inside.
template <class Visit>
void each_key(const json& schema, const std::string& before, const Visit& visit) {
    if (schema.contains("properties"))
        for (const auto& [key, property] : schema["properties"].items()) {
            visit(before + key, property["description"].template get<std::string>());
            each_key(property, before + key + ".", visit);
        }
    if (schema.contains("anyOf"))
        for (const json& form : schema["anyOf"]) each_key(form, before, visit);
}

}  // namespace

TEST_CASE("help: options of `collective` are described as the scenario's keys", "[memory]") {
    const json scenario = schema_in("scenarios")["properties"];
    const std::string help = help_of("collective");
    for (const auto& [key, property] : scenario["collective"]["properties"].items()) {
        CAPTURE(key);
        const std::size_t option = help.find("\n  --" + key + " ");
        REQUIRE(option != help.npos);
        const std::size_t end = help.find("\n  --", option + 1);
        CAPTURE(description(property, scenario["collective"]["properties"]));
        CHECK(help.substr(option, end - option).find(description(property, scenario["collective"]["properties"])) !=
              help.npos);
    }
    CHECK(help.find(description(scenario["platform"])) != help.npos);
    CHECK(help.find("{key") == help.npos);
    CHECK(help.find("Default: ") == help.npos);
    CHECK(help.find("(required without --sweep)") != help.npos);
    CHECK(help.find("  Seed of `placement: random` (default: 1)\n") != help.npos);
}

TEST_CASE("help: options of `explore` and `workload` are described as the keys", "[memory]") {
    const json study = schema_in("scenarios/studies")["properties"];
    const std::string explore = help_of("explore"), workload = help_of("workload");
    for (const char* key : {"objective", "constraints", "budget", "top"}) {
        CAPTURE(key);
        CHECK(explore.find(description(study["question"]["properties"][key])) != explore.npos);
    }
    const json scenario = schema_in("scenarios")["properties"];
    CHECK(workload.find(description(scenario["training"]["properties"]["compute"])) != workload.npos);
    CHECK((explore + workload).find("{key") == std::string::npos);
}

TEST_CASE("help: --seed names all keys that say that they depend on it", "[memory]") {
    const json schema = schema_in("scenarios");
    int keys = 0;
    const std::string help = help_of("run");
    const std::size_t option = help.find("\n  --seed");
    REQUIRE(option != help.npos);
    const std::string seed = help.substr(option, help.find("\n  --", option + 1) - option);
    each_key(schema["properties"]["training"], "", [&](const std::string& path, const std::string& text) {
        if (text.find("see --seed") == text.npos) return;
        CAPTURE(path, seed);
        const std::string framework = "framework.";  // has the same keys
        const std::string within = path.starts_with(framework) ? path.substr(framework.size()) : path;
        CHECK(seed.find("`" + within.substr(0, within.find('.'))) != seed.npos);
        ++keys;
    });
    CHECK(keys >= 4);
}
