#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/check/check.hpp"
#include "tests/catch.hpp"

// In a schema each key stands once, with a short description.

using namespace syncline;
using nlohmann::json;

namespace {

/// Counts the keys of a schema by their name with their value, definitions included, and the references by their name.
struct Counts {
    std::map<std::string, int> keys, references;

    void visit(const json& part) {
        if (part.is_object() && part.contains("$ref")) ++references[part["$ref"]];
        if (part.is_object() && part.contains("properties"))
            for (const auto& [key, value] : part["properties"].items())
                if (!value.contains("$ref")) ++keys[key + value.dump()];
        if (part.is_structured())
            for (const json& inner : part) visit(inner);
    }
};

/// Calls `visit` with each description in a schema. Keys that have this name are mappings, or references to them.
template <class Visit>
void each_description(const json& part, const Visit& visit) {
    if (part.is_object() && part.contains("description") && part["description"].is_string())
        visit(part["description"].get<std::string>());
    if (part.is_structured())
        for (const json& inner : part) each_description(inner, visit);
}

/// Returns the number of characters of a text in UTF-8.
std::size_t characters(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

TEST_CASE("schemas: each key with its description and shape stands once, and definitions are used more than once",
          "[memory]") {
    for (const std::string& kind : config::file_kinds()) {
        CAPTURE(kind);
        const json schema = json::parse(config::schema_of(kind));
        Counts counts;
        counts.visit(schema);
        CHECK(!counts.keys.empty());
        const json definitions = schema.value("$defs", json::object());
        for (const auto& [name, value] : definitions.items()) {
            CAPTURE(name);
            CHECK(counts.references["#/$defs/" + name] > 1);
            ++counts.keys[name.substr(name.rfind('.') + 1) + value.dump()];
        }
        for (const auto& [key, times] : counts.keys) {
            CAPTURE(key);
            CHECK(times == 1);
        }
    }
}

TEST_CASE("schemas: a description is a sentence or two, at most 200 characters", "[memory]") {
    for (const std::string& kind : config::file_kinds()) {
        CAPTURE(kind);
        int descriptions = 0;
        each_description(json::parse(config::schema_of(kind)), [&](const std::string& text) {
            ++descriptions;
            CAPTURE(text);
            CHECK(characters(text) <= 200);
        });
        CHECK(descriptions > 0);
    }
}
