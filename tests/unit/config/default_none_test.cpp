#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "sim/check/check.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/shared_schema.hpp"
#include "tests/catch.hpp"

// If the documentation says that a key's default is `none`, the word can be written.

using namespace syncline;
using nlohmann::json;

namespace {

bool takes_none(const json& property) {
    const auto is = [](const json& type) {
        return (type.contains("const") && type["const"] == "none") ||
               (type.contains("enum") &&
                std::find(type["enum"].begin(), type["enum"].end(), json("none")) != type["enum"].end());
    };
    return is(property) ||
           (property.contains("anyOf") && std::any_of(property["anyOf"].begin(), property["anyOf"].end(), is));
}

/// Calls `visit` with each key of a schema, as a path starting with `before`, and its description.
template <class Visit>
void each_key(const json& schema, const std::string& before, const Visit& visit) {
    if (schema.contains("properties"))
        for (const auto& [key, property] : schema["properties"].items()) {
            visit(before + key, property);
            each_key(property, before + key + ".", visit);
        }
    for (const char* more : {"items", "additionalProperties"})
        if (schema.contains(more) && schema[more].is_object()) each_key(schema[more], before + "*.", visit);
    if (schema.contains("anyOf"))
        for (const json& type : schema["anyOf"]) each_key(type, before, visit);
}

/// Returns the keys of the example in scenarios/README.md whose comments say that `none` is the default.
std::set<std::string> training_keys_of_readme() {
    std::ifstream file(SYNCLINE_SOURCE_DIR "/scenarios/README.md");
    const std::regex line(R"(^  ([a-z_]+):.*#.*(default none|none, the default).*$)");
    std::set<std::string> keys;
    std::smatch found;
    for (std::string text; std::getline(file, text);)
        if (std::regex_match(text, found, line)) keys.insert(found[1]);
    return keys;
}

}  // namespace

TEST_CASE("each key that is none by default accepts the word, as the schemas say", "[memory]") {
    const std::regex by_default("none by default|default:? `?none", std::regex::icase);
    std::set<std::string> documented;
    for (const std::string& kind : config::file_kinds())
        each_key(config::expanded(json::parse(config::schema_of(kind))), "",
                 [&](const std::string& path, const json& property) {
                     const bool said = std::regex_search(property.value("description", ""), by_default) ||
                                       (property.contains("default") && property["default"] == "none");
                     if (!said) return;
                     documented.insert(kind + " " + path);
                     CAPTURE(kind, path);
                     CHECK(takes_none(property));
                 });
    CHECK(documented.contains("scenario training.jitter"));
    CHECK(documented.contains("device kernel_latency"));
}

TEST_CASE("each key that is none by default in the scenarios' README can be set to it, and changes nothing",
          "[memory]") {
    const std::set<std::string> keys = training_keys_of_readme();
    for (const char* known : {"jitter", "stragglers", "fusion"}) CHECK(keys.contains(known));
    const std::string scenario = SYNCLINE_SOURCE_DIR "/scenarios/vgg-16-overlap.yaml";
    for (const std::string& key : keys) {
        CAPTURE(key);
        CHECK_NOTHROW(config::load_scenario(scenario, {"training." + key + "=none"}));
    }
    const config::Scenario plain = config::load_scenario(scenario, {"training.jitter=none"});
    CHECK(plain.variants.front().plan.noise.jitter == 0);
    CHECK_THROWS_AS(config::load_scenario(scenario, {"training.jitter=non"}), ConfigError);
}
