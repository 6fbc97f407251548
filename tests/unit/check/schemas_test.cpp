#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/check/check.hpp"
#include "tests/catch.hpp"

// In a schema each key stands once.

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
