#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/document/document.hpp"
#include "tests/catch.hpp"

// Characters beyond U+FFFF in JSON: two escapes.

using namespace syncline;
using namespace syncline::config;

namespace {

/// Returns a document on one line: scalars are `text@line:column`, mappings `{key@line:column: value}`.
std::string outline(const Node& node) {
    const auto placed = [](const std::string& text, const Mark& mark) {
        return fmt::format("{}@{}:{}", text, mark.line, mark.column);
    };
    std::string text;
    for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + outline(item);
    for (const Entry& entry : node.entries)
        text += (text.empty() ? "" : ", ") + placed(entry.key, entry.mark) + ": " + outline(entry.value);
    if (node.kind == Node::Kind::sequence) return placed('[' + text + ']', node.mark);
    if (node.kind == Node::Kind::mapping) return placed('{' + text + '}', node.mark);
    return placed(node.scalar, node.mark);
}

std::string outline(const std::string& text) {
    Library library;
    return outline(library.parse("test.yaml", text, "."));
}

std::vector<Diagnostic> errors_in(const std::string& text) {
    try {
        Library().parse("test.yaml", text, ".");
    } catch (const ConfigError& error) {
        return error.diagnostics();
    }
    return {};
}

}  // namespace

TEST_CASE("a pair of escapes is one character, as in JSON", "[memory]") {
    const std::string smile = "\xf0\x9f\x98\x80", clef = "\xf0\x9d\x84\x9e";  // U+1F600, U+1D11E
    CHECK(outline(R"({"name": "\ud83d\ude00", "b": 1})") == "{name@1:2: " + smile + "@1:10, b@1:26: 1@1:31}@1:1");
    CHECK(outline(R"({"\uD834\uDD1E": ["a\uD834\udd1eb\ud83d\uDE00", 2]})") ==
          "{" + clef + "@1:2: [a" + clef + "b" + smile + "@1:19, 2@1:49]@1:18}@1:1");
    CHECK(outline(R"("\\\ud83d\ude00\"\ud83d\ude00")") == "\\" + smile + "\"" + smile + "@1:1");
    CHECK(outline("!!str\n  \"\\ud83d\\ude00\"").starts_with(smile + "@"));
    CHECK(outline("a: \"x\\\n  \\ud83d\\ude00\"") == "{a@1:1: x" + smile + "@1:4}@1:1");
    // Where escapes have no meaning, their letters stay.
    for (const auto& letters : {std::string(R"(\ud83d\ude00)"), std::string(R"(x\uD83D\ude00y\\ud83d\ude00)")}) {
        CHECK(outline(letters) == letters + "@1:1");
        CHECK(outline("'" + letters + "'") == letters + "@1:1");
        CHECK(outline("a: |-\n  " + letters).starts_with("{a@1:1: " + letters + "@"));
        CHECK(outline("a: 1  # " + letters) == "{a@1:1: 1@1:4}@1:1");
    }
    CHECK(outline(R"("\\ud83d\\ude00")") == R"(\ud83d\ude00@1:1)");
    CHECK(outline(R"("\u00e9\U0001F600")") == "\xc3\xa9" + smile + "@1:1");
}

TEST_CASE("half of a pair is an error at its place, and errors after a pair are at theirs", "[memory]") {
    for (const auto& [text, column] : std::vector<std::pair<std::string, int>>{{R"({"a": "\ud83d"})", 8},
                                                                               {R"({"a": "x\ude00\ud83d"})", 9},
                                                                               {R"({"a": "\ud83d\ud83d\ude00"})", 8},
                                                                               {R"({"a": "\ud83d\ude00\ude00"})", 20},
                                                                               {R"({"a": "\ud83d \ude00"})", 8},
                                                                               {R"({"a": "\ud83d\\ude00"})", 8}}) {
        CAPTURE(text);
        const auto errors = errors_in(text);
        REQUIRE(errors.size() == 1);
        CHECK(errors[0].message == "this escape is no character");
        CHECK(errors[0].where.column == column);
        CHECK(errors[0].where.source_line == text);
        CHECK_THAT(errors[0].hint, Catch::Matchers::ContainsSubstring("half of a pair"));
    }
    const auto errors = errors_in(R"({"a": "\ud83d\ude00", "a": 1})");
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].message == "duplicate key 'a'");
    CHECK(errors[0].where.column == 23);
}
