#include "sim/document/reader.hpp"
#include "sim/document/shared_schema.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "sim/document/json_schema.hpp"
#include "tests/catch.hpp"

using namespace syncline;
using namespace syncline::config;

namespace {

struct Inner {
    std::string name;
    std::int64_t count = 1;
};

struct Outer {
    std::string title = "untitled";
    bool flag = false;
    std::int64_t ranks = 4;
    std::vector<std::int64_t> kernel{1, 1}, counts;
    std::vector<double> delays{0.5};
    std::vector<std::string> words;
    std::string path, content;
    double size = 64e6, cycle = 0, speed = 1;
    int color = 1;
    bool inner_given = false;
    Inner inner;
    std::vector<Inner> items;
    std::vector<std::string> names;
};

void describe(Fields& fields, Inner& inner) {
    fields.text({"name", "Of the thing.", true}, inner.name);
    fields.integer({"count", "How many."}, inner.count, 1, 10);
}

void describe(Fields& fields, Outer& outer) {
    fields.text({"title", "A title."}, outer.title);
    fields.flag({"flag", "A flag."}, outer.flag);
    fields.integer({"ranks", "At least one."}, outer.ranks, 1);
    fields.integers({"kernel", "Two."}, outer.kernel, 2, 0);
    fields.integer_list({"counts", "Any."}, outer.counts, 1, 9);
    fields.quantities({"delays", "One or more."}, outer.delays, Dimension::seconds, {.word = "none"});
    fields.texts({"words", "Some."}, outer.words);
    fields.file({"file", "Another."}, [&](const std::string& path, const std::string& text, const Fields::Beside&) {
        outer.path = path;
        outer.content = text;
    });
    fields.quantity({"size", "Bytes."}, outer.size, Dimension::bytes);
    fields.quantity({"cycle", "Seconds."}, outer.cycle, Dimension::seconds, {.zero = true, .word = "none"});
    fields.quantity({"speed", "Bandwidth."}, outer.speed, Dimension::bandwidth,
                    {.word = "unlimited", .word_value = 1e300});
    fields.choice({"color", "One of three."}, outer.color, {"red", "green", "blue"});
    fields.section(
        {"inner", "A mapping.", false, true},
        [&](Fields& section) {
            outer.inner_given = true;
            describe(section, outer.inner);
        },
        "off");
    fields.each({"items", "A list."}, [&](Fields& entry) {
        Inner item;
        describe(entry, item);
        if (entry.sound()) outer.items.push_back(item);
    });
    fields.named({"named", "Names."}, [&](const std::string& name, Fields& entry) {
        Inner item;
        describe(entry, item);
        outer.names.push_back(name);
    });
}

struct Outcome {
    Outer value;
    std::vector<Diagnostic> errors;
};

Library library;

Outcome read_text(const std::string& text) {
    Outcome outcome;
    const Node node = library.parse("test.yaml", text, ".");
    read(
        node, "thing", [&](Fields& fields) { describe(fields, outcome.value); }, outcome.errors);
    return outcome;
}

Outer accepted(const std::string& text) {
    const Outcome outcome = read_text(text);
    INFO(text);
    for (const Diagnostic& error : outcome.errors) UNSCOPED_INFO(render(error));
    CHECK(outcome.errors.empty());
    return outcome.value;
}

/// Returns `line:column: message` of the only error, and its hint after a bar if it has one.
std::string error_in(const std::string& text) {
    const Outcome outcome = read_text(text);
    INFO(text);
    for (const Diagnostic& error : outcome.errors) UNSCOPED_INFO(render(error));
    REQUIRE(outcome.errors.size() == 1);
    const Diagnostic& error = outcome.errors[0];
    return fmt::format("{}:{}: {}{}{}", error.where.line, error.where.column, error.message,
                       error.hint.empty() ? "" : " | ", error.hint);
}

}  // namespace

TEST_CASE("a struct is filled from a document", "[memory]") {
    const Outer outer = accepted(
        "title: 5\nflag: true\nranks: 8\nkernel: [3, 0]\nsize: 1 MiB\ncycle: 5 ms\nspeed: 8 Gbps\ncolor: blue\n"
        "inner: {name: a, count: 2}\nitems: [{name: b}, {name: c}]\nnamed: {v1.5: {name: d}, w: {name: e}}\n");
    CHECK(outer.title == "5");
    CHECK(outer.flag);
    CHECK(outer.ranks == 8);
    CHECK(outer.kernel == std::vector<std::int64_t>{3, 0});
    CHECK(outer.size == 1048576);
    CHECK(outer.cycle == Approx(0.005));
    CHECK(outer.speed == Approx(1e9));
    CHECK(outer.color == 2);
    CHECK(outer.inner.name == "a");
    CHECK(outer.items.size() == 2);
    CHECK(outer.names == std::vector<std::string>{"v1.5", "w"});
}

TEST_CASE("omitted keys keep their defaults", "[memory]") {
    const Outer outer = accepted("{}");
    CHECK(outer.title == "untitled");
    CHECK(outer.ranks == 4);
    CHECK(outer.color == 1);
    CHECK_FALSE(outer.inner_given);
}

TEST_CASE("a word can replace a value, or an absent section", "[memory]") {
    const Outer outer = accepted("cycle: none\nspeed: unlimited\ninner: off\n");
    CHECK(outer.cycle == 0);
    CHECK(outer.speed == 1e300);
    CHECK_FALSE(outer.inner_given);
    CHECK(error_in("speed: unlimted\n").ends_with("| did you mean 'unlimited'?"));
    CHECK(error_in("speed: fast\n").ends_with(", or 'unlimited'"));
}

TEST_CASE("one number can replace a list of equal ones", "[memory]") {
    CHECK(accepted("kernel: 3").kernel == std::vector<std::int64_t>{3, 3});
}

TEST_CASE("whole numbers are plain digits", "[memory]") {
    CHECK(error_in("ranks: 010") == "1:8: 'ranks': '010' has a leading zero | write 10");
    CHECK(error_in("ranks: -03") == "1:8: 'ranks': '-03' has a leading zero | write -3");
    CHECK(error_in("ranks: 00") == "1:8: 'ranks': '00' has a leading zero | write 0");
    CHECK(error_in("ranks: 1e3") == "1:8: 'ranks': '1e3' is not a whole number | write 1000");
    CHECK(error_in("ranks: 3.0") == "1:8: 'ranks': '3.0' is not a whole number | write 3");
    CHECK(error_in("ranks: +3") == "1:8: 'ranks': '+3' is not a whole number | write 3");
    CHECK(error_in("ranks: \"3\"") == "1:8: 'ranks': \"3\" is not a whole number | write 3 without quotes");
    for (const char* text :
         {"0x10", "0b1", "0o17", "1_000", "1,000", "true", "three", "--3", "3.5", ".inf", "''", "-0x1"}) {
        INFO(text);
        CHECK(error_in(std::string("ranks: ") + text).find("is not a whole number | ") != std::string::npos);
    }
    CHECK(error_in("ranks: [3]") == "1:8: 'ranks' is a list, not a whole number");
    CHECK(error_in("ranks: {}") == "1:8: 'ranks' is a mapping, not a whole number");
}

TEST_CASE("whole numbers have a range", "[memory]") {
    CHECK(error_in("ranks: 0") == "1:8: 'ranks': '0' is out of range | at least 1");
    CHECK(error_in("inner: {name: a, count: 11}").ends_with("is out of range | from 1 to 10"));
    CHECK(accepted("ranks: 9223372036854775807").ranks == std::numeric_limits<std::int64_t>::max());
    for (const char* text : {"9223372036854775808", "-9223372036854775809", "99999999999999999999999999"})
        CHECK(error_in(std::string("ranks: ") + text).find("is out of range") != std::string::npos);
}

TEST_CASE("lists of numbers have a length", "[memory]") {
    CHECK(error_in("kernel: [1]") == "1:9: 'kernel' has 1 numbers, not 2");
    CHECK(error_in("kernel: [1, x]").starts_with("1:13: 'kernel': 'x' is not a whole number"));
    CHECK(error_in("kernel: -1") == "1:9: 'kernel': '-1' is out of range | at least 0");
    CHECK(error_in("kernel: [[1], 2]").starts_with("1:10: 'kernel': a list is not a whole number"));
    CHECK(error_in("kernel: {}").starts_with("1:9: 'kernel': a mapping is not a whole number"));
}

TEST_CASE("lists of any length are not empty, and every item is checked", "[memory]") {
    CHECK(accepted("counts: [3, 1, 9]").counts == std::vector<std::int64_t>{3, 1, 9});
    CHECK(error_in("counts: [1, 0]") == "1:13: 'counts': '0' is out of range | from 1 to 9");
    CHECK(error_in("counts: []") == "1:9: 'counts' has no items");
    CHECK(error_in("counts: 3") == "1:9: 'counts' is '3', not a list of whole numbers");
    CHECK(accepted("words: [a, 'b c', 1]").words == std::vector<std::string>{"a", "b c", "1"});
    CHECK(error_in("words: [a, '']") == "1:12: 'words' is empty");
    CHECK(error_in("words: [a, [b]]") == "1:12: 'words' is a list, not a text");
    CHECK(error_in("words: a") == "1:8: 'words' is 'a', not a list of texts");
}

TEST_CASE("a key may take one quantity or a list", "[memory]") {
    CHECK(accepted("{}").delays == std::vector<double>{0.5});
    CHECK(accepted("delays: 2 s").delays == std::vector<double>{2});
    CHECK(accepted("delays: none").delays == std::vector<double>{0});
    CHECK(accepted("delays: [2 s, none, 4 s]").delays == std::vector<double>{2, 0, 4});
    CHECK(error_in("delays: []") == "1:9: 'delays' has no items");
    CHECK(error_in("delays: [1 s, 2]") == "1:15: 'delays': 2 has no unit | write for example 2 ms, or 'none'");
    CHECK(error_in("delays: [1 s, -2 s]") == "1:15: 'delays' is -2 s, but must be above zero | or 'none'");
    CHECK(error_in("delays: [[1 s]]") == "1:10: 'delays' is a list, not a number with a unit");
    CHECK(error_in("delays: {}") == "1:9: 'delays' is a mapping, not a number with a unit");
}

TEST_CASE("a file is read relative to the text that names it", "[memory]") {
    const Node node = library.parse("t", "file: ../workloads/schema.json", SYNCLINE_SOURCE_DIR "/platforms");
    std::vector<Diagnostic> errors;
    Outer outer;
    read(
        node, "thing", [&](Fields& fields) { describe(fields, outer); }, errors);
    CHECK(errors.empty());
    CHECK(outer.path == SYNCLINE_SOURCE_DIR "/workloads/schema.json");
    CHECK(outer.content.starts_with("{\n"));
    CHECK(error_in("file: no/such.txt") == "1:7: 'no/such.txt' does not exist");
    CHECK(error_in("file: ''") == "1:7: the name of the file is empty");
    CHECK(error_in("file: [a]") == "1:7: 'file' is a list, not the name of a file");
}

TEST_CASE("a flag is true or false", "[memory]") {
    for (const char* text : {"yes", "True", "1", "on", "'true'", "TRUE"}) {
        INFO(text);
        CHECK(error_in(std::string("flag: ") + text).find("not true or false") != std::string::npos);
    }
    CHECK_FALSE(accepted("flag: false").flag);
}

TEST_CASE("a text is not empty", "[memory]") {
    CHECK(error_in("title: ''") == "1:8: 'title' is empty");
    CHECK(error_in("title: [a]") == "1:8: 'title' is a list, not a text");
    CHECK(accepted("title: 'null'").title == "null");
}

TEST_CASE("a quantity is above zero, or at least zero", "[memory]") {
    CHECK(error_in("size: 0 B") == "1:7: 'size' is 0 B, but must be above zero");
    CHECK(error_in("size: -1 MB") == "1:7: 'size' is -1 MB, but must be above zero");
    CHECK(error_in("cycle: -1 s") == "1:8: 'cycle' is -1 s, but must not be negative");
    CHECK(accepted("cycle: 0 s").cycle == 0);
    CHECK(error_in("size: 25") == "1:7: 'size': 25 has no unit | write for example 25 MiB");
    CHECK(error_in("size: [1 MB]") == "1:7: 'size' is a list, not a number with a unit");
}

TEST_CASE("a choice is one of its words", "[memory]") {
    CHECK(error_in("color: gren") == "1:8: 'color' cannot be 'gren' | did you mean 'green'?");
    CHECK(error_in("color: Red") == "1:8: 'color' cannot be 'Red' | did you mean 'red'?");
    CHECK(error_in("color: 1") == "1:8: 'color' cannot be '1' | write one of 'red', 'green', 'blue'");
}

TEST_CASE("unknown keys are refused with a suggestion", "[memory]") {
    CHECK(error_in("a: 1\n").starts_with("1:1: unknown key 'a' | write one of 'title', 'flag', "));
    CHECK(error_in("rnks: 32\n") == "1:1: unknown key 'rnks' | did you mean 'ranks'?");
    CHECK(error_in("inner: {name: a, cout: 1}").starts_with("1:18: unknown key 'cout' | did you mean 'count'?"));
}

TEST_CASE("missing keys are named together, except misspelt ones", "[memory]") {
    std::vector<Diagnostic> errors;
    const auto body = [](Fields& fields) {
        std::int64_t number = 0;
        for (const char* key : {"one", "two", "three"}) fields.integer({key, "", true}, number, 0);
        CHECK_FALSE(fields.sound());
    };
    read(library.parse("t", "\n\ntwo: 2\n", "."), "thing", body, errors);
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].message == "missing keys 'one', 'three' in thing");
    CHECK(errors[0].where.line == 3);
    CHECK(error_in("inner: {count: 1}") == "1:8: missing key 'name' in inner");
    CHECK(error_in("inner: {nam: 1}") == "1:9: unknown key 'nam' | did you mean 'name'?");
    CHECK(error_in("items: [{name: a}, {count: 1}]") == "1:20: missing key 'name' in item 2 of items");
    CHECK(error_in("named: {x: {count: 1}}") == "1:12: missing key 'name' in x");
}

TEST_CASE("a key without a value is an error", "[memory]") {
    CHECK(error_in("ranks:\n") == "1:1: 'ranks' has no value | remove the key to use its default");
    CHECK(error_in("inner: {name: }\n") == "1:9: 'name' has no value");
    CHECK(error_in("inner: ~\n").starts_with("1:1: 'inner' has no value"));
}

TEST_CASE("another type in place of a mapping or a list is named", "[memory]") {
    CHECK(error_in("inner: 5") == "1:8: 'inner' is '5', not a mapping | write keys, or the name of a file");
    CHECK(error_in("inner: [1]").starts_with("1:8: 'inner' is a list, not a mapping"));
    CHECK(error_in("items: {}") == "1:8: 'items' is a mapping, not a list");
    CHECK(error_in("items: []") == "1:8: 'items' has no items");
    CHECK(error_in("items: [x]") == "1:9: item 1 of items is 'x', not a mapping");
    CHECK(error_in("items: [~]") == "1:8: item 1 of items is empty, not a mapping");
    CHECK(error_in("named: [x]") == "1:8: 'named' is a list, not a mapping");
    CHECK(error_in("named: {x: 1}") == "1:12: x is '1', not a mapping");
    CHECK(error_in("[1]") == "1:1: thing is a list, not a mapping");
    CHECK(error_in("word") == "1:1: thing is 'word', not a mapping");
}

TEST_CASE("all errors are found, each once", "[memory]") {
    const std::string text = "ranks: 0\nkernel: [x, y]\ninner: {cout: x}\ncolour: red\nitems: [{name: ''}, {}]\n";
    const Outcome outcome = read_text(text);
    CHECK(outcome.errors.size() == 8);
    // The same file is read twice, as when several variants share an error.
    std::vector<Diagnostic> errors = outcome.errors;
    Outer again;
    const Node node = library.parse("test.yaml", text, ".");
    read(
        node, "thing", [&](Fields& fields) { describe(fields, again); }, errors);
    CHECK(errors.size() == 8);
    CHECK(again.ranks == 4);
    CHECK(again.items.empty());
}

TEST_CASE("two arguments with the same error are two errors", "[memory]") {
    std::vector<Diagnostic> errors;
    for (const char* text : {"a=x", "b=x", "b=x"}) {
        const Node node = library.parse("--set", text, "", 2);
        Node document;
        document.kind = Node::Kind::mapping;
        document.entries.push_back({"ranks", node.mark, node});
        Outer outer;
        read(
            document, "thing", [&](Fields& fields) { describe(fields, outer); }, errors);
    }
    CHECK(errors.size() == 2);
}

TEST_CASE("the list of errors is limited", "[memory]") {
    std::string text;
    for (int i = 0; i < 9'000; ++i) text += fmt::format("key{}: 1\n", i);
    CHECK(read_text(text).errors.size() == 50);
}

TEST_CASE("a check over several fields rejects a key, or the mapping that lacks it", "[memory]") {
    std::vector<Diagnostic> errors;
    const auto body = [](Fields& fields) {
        std::int64_t number = 0;
        fields.integer({"a", ""}, number, 0);
        CHECK(fields.given("a"));
        CHECK_FALSE(fields.given("b"));
        CHECK(fields.sound());
        fields.reject("a", "too many", "fewer");
        CHECK_FALSE(fields.sound());
        fields.reject("b", "needed", "");
    };
    read(library.parse("t", "\na: 1\n", "."), "thing", body, errors);
    REQUIRE(errors.size() == 2);
    CHECK(errors[0].where.column == 4);
    CHECK(errors[0].hint == "fewer");
    CHECK(errors[1].where.line == 2);
    CHECK(errors[1].where.column == 1);
}

TEST_CASE("a mapping is valid if everything in it is", "[memory]") {
    std::vector<Diagnostic> errors;
    read(
        library.parse("t", "{inner: {count: x}, other: {count: 1}}", "."), "thing",
        [](Fields& fields) {
            std::int64_t number = 0;
            const auto count = [&](Fields& inner) { inner.integer({"count", ""}, number, 0); };
            fields.section({"other", ""}, count);
            CHECK(fields.sound());
            fields.section({"inner", ""}, [&](Fields& inner) {
                count(inner);
                CHECK_FALSE(inner.sound());
            });
            CHECK_FALSE(fields.sound());
        },
        errors);
    CHECK(errors.size() == 1);
}

TEST_CASE("a table without fields accepts any keys", "[memory]") {
    std::vector<Diagnostic> errors;
    read(
        library.parse("t", "v: {a: {b: 1}}", "."), "thing",
        [](Fields& fields) {
            fields.named({"v", ""}, [](const std::string&, Fields&) {});
        },
        errors);
    CHECK(errors.empty());
}

TEST_CASE("the schema describes what the reader accepts", "[memory]") {
    Outer outer;
    const std::string text =
        schema("https://example.org/thing.json", "Thing", [&](Fields& fields) { describe(fields, outer); });
    CHECK(text.ends_with("}\n"));
    const auto json = expanded(nlohmann::json::parse(text));
    CHECK(json["$schema"] == "http://json-schema.org/draft-07/schema#");
    CHECK(json["$id"] == "https://example.org/thing.json");
    CHECK(json["title"] == "Thing");
    CHECK(json["type"] == "object");
    CHECK(json["additionalProperties"] == false);
    CHECK_FALSE(json.contains("required"));

    const auto& keys = json["properties"];
    CHECK(keys["title"] ==
          nlohmann::json::parse(
              R"({"type":"string","minLength":1,"description":"A title. Default: `untitled`.","default":"untitled"})"));
    CHECK(keys["flag"]["default"] == false);
    CHECK(keys["ranks"] ==
          nlohmann::json::parse(
              R"({"type":"integer","minimum":1,"description":"At least one. Default: `4`.","default":4})"));
    CHECK(keys["kernel"]["anyOf"] == nlohmann::json::parse(R"([{"type":"integer","minimum":0},
                                    {"type":"array","items":{"type":"integer","minimum":0},"minItems":2,"maxItems":2}])"));
    CHECK(keys["counts"] == nlohmann::json::parse(R"({"type":"array","minItems":1,
        "items":{"type":"integer","minimum":1,"maximum":9},"description":"Any."})"));
    CHECK(keys["words"] == nlohmann::json::parse(R"({"type":"array","minItems":1,
        "items":{"type":["string","number","boolean"],"minLength":1},"description":"Some."})"));
    CHECK(keys["file"] == nlohmann::json::parse(R"({"type":"string","minLength":1,"description":"Another."})"));
    CHECK(keys["delays"]["anyOf"][0]["type"] == "string");
    CHECK(keys["delays"]["anyOf"][1]["const"] == "none");
    CHECK(keys["delays"]["anyOf"][2]["items"]["anyOf"][1]["const"] == "none");
    CHECK(keys["delays"]["default"] == "500 ms");
    CHECK(keys["size"]["type"] == "string");
    CHECK(keys["size"]["default"] == "64 MB");
    CHECK(keys["cycle"]["anyOf"][1]["const"] == "none");
    CHECK(keys["cycle"]["default"] == "none");
    CHECK(keys["color"] ==
          nlohmann::json::parse(
              R"({"enum":["red","green","blue"],"description":"One of three. Default: `green`.","default":"green"})"));
    CHECK(keys["inner"]["anyOf"][0]["required"] == nlohmann::json::parse(R"(["name"])"));
    CHECK(keys["inner"]["anyOf"][0]["properties"]["count"]["maximum"] == 10);
    CHECK(keys["inner"]["anyOf"][1]["const"] == "off");
    CHECK(keys["inner"]["anyOf"][2]["type"] == "string");
    CHECK(keys["items"]["minItems"] == 1);
    CHECK(keys["items"]["items"]["additionalProperties"] == false);
    CHECK(keys["named"]["additionalProperties"]["properties"].contains("name"));
}

TEST_CASE("the schema's patterns accept the quantities that are read", "[memory]") {
    for (const Dimension dimension : dimensions_with_units) {
        double value = 1;
        const auto json = nlohmann::json::parse(schema("", "", [&](Fields& fields) {
            fields.quantity({"q", ""}, value, dimension);
        }));
        const std::regex pattern(json["properties"]["q"]["pattern"].get<std::string>());
        for (const char* unit :
             {"B",      "kB",     "KB",      "MiB",     "Gb",      "Kbit",    "KiB",       "Kib",      "PB",
              "EB",     "s",      "ms",      "us",      "\u00b5s", "\u03bcs", "ns",        "ps",       "min",
              "h",      "Gbps",   "Gb/s",    "Gbit/s",  "GBps",    "GB/s",    "GiB/s",     "bps",      "flops",
              "Tflops", "GFLOPS", "Mflop/s", "KFLOP/S", "/s",      "1/s",     "samples/s", "images/s", "img/s",
              "mb",     "gbps",   "EiB",     "kiB",     "tflops",  "S",       "flop",      "",         "x",
              "W",      "kW",     "KW",      "mW",      "MWh",     "kWh",     "J",         "KJ",       "Ws"})
            for (const char* number : {"25", "+1.5", "-2.", ".5", "1e3", "2E-3", "0", "e3", "1,5", "0x1", "nan"})
                for (const char* space : {"", " ", "  "}) {
                    const std::string text = std::string(number) + space + unit;
                    INFO(text);
                    CHECK(std::regex_match(text, pattern) == parse_quantity(text, dimension).value.has_value());
                }
    }
}
