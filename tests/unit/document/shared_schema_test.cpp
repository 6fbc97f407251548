#include "sim/document/shared_schema.hpp"

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"

// Definitions of what occurs at several places of a schema.

using namespace syncline::config;
using Json = nlohmann::ordered_json;

TEST_CASE("shared schema: a key that occurs twice is one definition, and one that differs is none", "[memory]") {
    const Json schema = Json::parse(R"({"type": "object", "properties": {
        "a": {"type": "object", "properties": {"size": {"type": "integer"}, "name": {"type": "string"}}},
        "b": {"type": "object", "properties": {"size": {"type": "integer"}, "name": {"type": "number"}}}}})");
    const Json shared = share(schema);
    CHECK(shared["$defs"] == Json::parse(R"({"size": {"type": "integer"}})"));
    for (const char* key : {"a", "b"})
        CHECK(shared["properties"][key]["properties"]["size"] == Json::parse(R"({"$ref": "#/$defs/size"})"));
    CHECK(shared["properties"]["a"]["properties"]["name"] == schema["properties"]["a"]["properties"]["name"]);
    CHECK(expanded(nlohmann::json(shared)) == nlohmann::json(schema));
}

TEST_CASE("shared schema: definitions of one key have different names, and a key in a definition is there once",
          "[memory]") {
    const Json schema = Json::parse(R"({"properties": {
        "a": {"properties": {"x": {"type": "integer"}, "in": {"properties": {"x": {"type": "string"}}}}},
        "b": {"properties": {"x": {"type": "integer"}, "in": {"properties": {"x": {"type": "string"}}}}},
        "c": {"properties": {"x": {"type": "string"}}}}})");
    const Json shared = share(schema);
    CHECK(shared["$defs"].size() == 3);
    CHECK(shared["$defs"]["x"] == Json::parse(R"({"type": "integer"})"));
    CHECK(shared["$defs"]["in"] == Json::parse(R"({"properties": {"x": {"$ref": "#/$defs/in.x"}}})"));
    CHECK(shared["$defs"]["in.x"] == Json::parse(R"({"type": "string"})"));
    CHECK(shared["properties"]["c"]["properties"]["x"] == Json::parse(R"({"$ref": "#/$defs/in.x"})"));
    CHECK(expanded(nlohmann::json(shared)) == nlohmann::json(schema));
}

TEST_CASE("shared schema: a mapping that occurs under several keys is one definition", "[memory]") {
    const Json schema = Json::parse(R"({"properties": {
        "a": {"anyOf": [{"type": "object", "properties": {"x": {"type": "integer"}}}, {"const": "none"}]},
        "b": {"items": {"type": "object", "properties": {"x": {"type": "integer"}}}}}})");
    const Json shared = share(schema);
    CHECK(shared["properties"]["a"]["anyOf"][0] == shared["properties"]["b"]["items"]);
    CHECK(shared["$defs"].size() == 1);
    CHECK(expanded(nlohmann::json(shared)) == nlohmann::json(schema));
}

TEST_CASE("shared schema: lines have at most 140 columns unless a text is longer", "[memory]") {
    CHECK(lines_of(Json::parse(R"({"a": [1, 2], "b": {}})")) == "{\"a\":[1,2],\"b\":{}}\n");
    const std::string text(136, 'x');
    CHECK(lines_of(Json{{"a", text}, {"b", {1}}}) == "{\n  \"a\": \"" + text + "\",\n  \"b\": [1]\n}\n");
    CHECK(Json::parse(lines_of(Json{{"a", text}})) == Json{{"a", text}});
}
