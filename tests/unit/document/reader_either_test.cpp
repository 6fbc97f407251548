#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/document/json_schema.hpp"
#include "sim/document/reader.hpp"
#include "sim/document/shared_schema.hpp"
#include "tests/catch.hpp"

// Keys with either a word or number or a mapping, and paths to rejected values.

using namespace syncline;
using namespace syncline::config;

namespace {

struct Thing {
    int way = 0;
    int none = -1;
    std::int64_t height = 3;
    double width = 0.5;
    std::int64_t inner = 0;
};

void describe(Fields& fields, Thing& thing) {
    const auto body = [&](Fields& section) { section.integer({"inner", "A number."}, thing.inner, 0); };
    fields.choice_or_section({"way", "One of two, or keys."}, thing.way, {"straight", "around"}, body);
    fields.choice_or_section({"none", "One word, or keys."}, thing.none, {"auto"}, body);
    fields.integer_or_section({"height", "A number, or keys."}, thing.height, 1, 9, body);
    fields.number_or_section({"width", "A number, or keys."}, thing.width, 0, 2, body);
    std::vector<std::string> names;
    fields.each({"items", "Some."}, [&](Fields& item) { item.text({"name", "Of it."}, names.emplace_back()); });
}

Library library;

Thing read_text(const std::string& text, std::vector<Diagnostic>& errors, const std::string& rejected = "") {
    Thing thing;
    const Node node = library.parse("test.yaml", text, ".");
    read(
        node, "thing",
        [&](Fields& fields) {
            describe(fields, thing);
            if (!rejected.empty()) fields.reject(rejected, "no", "");
        },
        errors);
    return thing;
}

Thing accepted(const std::string& text) {
    std::vector<Diagnostic> errors;
    const Thing thing = read_text(text, errors);
    INFO(text);
    CHECK(errors.empty());
    return thing;
}

/// Returns `line:column: message | hint` of the only error.
std::string error_in(const std::string& text, const std::string& rejected = "") {
    std::vector<Diagnostic> errors;
    read_text(text, errors, rejected);
    INFO(text);
    REQUIRE(errors.size() == 1);
    return fmt::format("{}:{}: {} | {}", errors[0].where.line, errors[0].where.column, errors[0].message,
                       errors[0].hint);
}

}  // namespace

TEST_CASE("a word or a number can replace a mapping, and an empty mapping has the defaults", "[memory]") {
    CHECK(accepted("{}").way == 0);
    CHECK(accepted("{}").none == -1);
    CHECK(accepted("{}").height == 3);
    CHECK(accepted("way: around\n").way == 1);
    CHECK(accepted("none: auto\n").none == 0);
    CHECK(accepted("height: 9\n").height == 9);
    const Thing nested = accepted("way: {inner: 5}\n");
    CHECK(nested.way == 0);
    CHECK(nested.inner == 5);
    CHECK(accepted("none: {inner: 7}\n").none == -1);
    CHECK(accepted("height: {inner: 6}\n").height == 3);
    CHECK(accepted("height: {inner: 6}\n").inner == 6);
    CHECK(accepted("width: 1.5\n").width == 1.5);
    CHECK(accepted("width: {inner: 6}\n").width == 0.5);
    CHECK(accepted("width: {inner: 6}\n").inner == 6);
}

TEST_CASE("a value of neither form is an error, and so are errors inside", "[memory]") {
    CHECK(error_in("way: arond\n") == "1:6: 'way' cannot be 'arond' | did you mean 'around'?");
    CHECK(error_in("way: 7\n") == "1:6: 'way' cannot be '7' | write keys, or one of 'straight', 'around'");
    CHECK(error_in("way: [around]\n") == "1:6: 'way' cannot be a list | write keys, or one of 'straight', 'around'");
    CHECK(error_in("none: 7\n") == "1:7: 'none' cannot be '7' | write keys, or one of 'auto'");
    CHECK(error_in("way: ~\n").rfind("1:1: 'way' has no value", 0) == 0);
    CHECK(error_in("way: {iner: 1}\n") == "1:7: unknown key 'iner' | did you mean 'inner'?");
    CHECK(error_in("height: 10\n").rfind("1:9: 'height': '10' is out of range", 0) == 0);
    CHECK(error_in("height: tall\n").rfind("1:9: 'height': 'tall' is not a whole number", 0) == 0);
    CHECK(error_in("width: 3\n").rfind("1:8: 'width' is '3', not a number from 0 to 2", 0) == 0);
    CHECK(error_in("width: ~\n").rfind("1:1: 'width' has no value", 0) == 0);
    CHECK(error_in("width: {inner: -1}\n").rfind("1:16: 'inner': '-1' is out of range", 0) == 0);
    CHECK(error_in("height: {inner: -1}\n").rfind("1:17: 'inner': '-1' is out of range", 0) == 0);
}

TEST_CASE("a path leads to the rejected value, as far as it exists", "[memory]") {
    const std::string text = "height: {inner: 6}\nitems:\n  - {name: a}\n  - {name: b}\nway: around\n";
    const std::pair<const char*, const char*> places[] = {
        {"height", "1:9"},           {"height.inner", "1:17"}, {"height.outer", "1:9"}, {"items.0.name", "3:12"},
        {"items.1.name", "4:12"},    {"items.1.other", "4:5"}, {"items.2.name", "3:3"}, {"items.name", "3:3"},
        {"way.inner.deeper", "5:6"}, {"absent", "1:1"},        {"absent.inner", "1:1"},
    };
    for (const auto& [path, place] : places) {
        CAPTURE(path);
        CHECK(error_in(text, path) == fmt::format("{}: no | ", place));
    }
}

TEST_CASE("the schema of alternatives has both", "[memory]") {
    const auto schema = config::expanded(nlohmann::json::parse(config::schema("id", "title", [](Fields& fields) {
        Thing thing;
        describe(fields, thing);
    })));
    const auto& properties = schema["properties"];
    CHECK(properties["way"]["anyOf"][0]["enum"] == nlohmann::json({"straight", "around"}));
    CHECK(properties["way"]["anyOf"][1]["properties"]["inner"]["type"] == "integer");
    CHECK(properties["way"]["default"] == "straight");
    CHECK(!properties["none"].contains("default"));
    CHECK(properties["height"]["anyOf"][0]["maximum"] == 9);
    CHECK(properties["height"]["anyOf"][1]["additionalProperties"] == false);
    CHECK(properties["height"]["default"] == 3);
    CHECK(properties["width"]["anyOf"][0]["maximum"] == 2);
    CHECK(properties["width"]["anyOf"][1]["properties"]["inner"]["type"] == "integer");
    CHECK(properties["width"]["default"] == 0.5);
}
