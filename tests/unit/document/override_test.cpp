#include "sim/document/override.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace syncline;
using namespace syncline::config;

namespace {

Library library;

Node yaml(const std::string& text) {
    return library.parse("test.yaml", text, ".");
}

/// Returns a document as flow YAML.
std::string flow(const Node& node) {
    std::string text;
    switch (node.kind) {
        case Node::Kind::null:
            return "~";
        case Node::Kind::scalar:
            return node.scalar;
        case Node::Kind::sequence:
            for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + flow(item);
            return "[" + text + "]";
        default:
            for (const Entry& entry : node.entries)
                text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", entry.key, flow(entry.value));
            return "{" + text + "}";
    }
}

std::string merged(const std::string& base, const std::string& changes) {
    Node node = yaml(base);
    merge(node, yaml(changes));
    return flow(node);
}

std::string split(const std::string& text) {
    Node node = yaml(text);
    split_paths(node);
    return flow(node);
}

template <class Action>
std::vector<Diagnostic> errors_of(const Action& action) {
    try {
        action();
    } catch (const ConfigError& error) {
        return error.diagnostics();
    }
    return {};
}

}  // namespace

TEST_CASE("a mapping is overridden key by key, and everything else is replaced", "[memory]") {
    CHECK(merged("{a: 1, b: 2}", "{b: 3, c: 4}") == "{a: 1, b: 3, c: 4}");
    CHECK(merged("{a: {b: 1, c: 2}}", "{a: {c: 3}}") == "{a: {b: 1, c: 3}}");
    CHECK(merged("{a: [1, 2]}", "{a: [3]}") == "{a: [3]}");
    CHECK(merged("{a: {b: 1}}", "{a: x.yaml}") == "{a: x.yaml}");
    CHECK(merged("{a: x}", "{a: {b: 1}}") == "{a: {b: 1}}");
    CHECK(merged("{a: 1}", "{}") == "{a: 1}");
    CHECK(merged("{}", "{a: {}}") == "{a: {}}");
}

TEST_CASE("a null removes a key", "[memory]") {
    CHECK(merged("{a: 1, b: 2}", "{a: ~}") == "{b: 2}");
    CHECK(merged("{a: {b: 1, c: 2}}", "{a: {b: ~}}") == "{a: {c: 2}}");
    CHECK(merged("{a: 1}", "{b: ~}") == "{a: 1}");
    CHECK(merged("{a: 1}", "{b: {c: ~}}") == "{a: 1}");
    CHECK(merged("{}", "{b: {c: ~, d: 1}}") == "{b: {d: 1}}");
    CHECK(merged("{a: x}", "{a: {b: ~, c: 1}}") == "{a: {c: 1}}");
}

TEST_CASE("merging twice changes nothing more, and an empty override changes nothing", "[memory]") {
    const std::vector<std::string> documents{
        "{}",     "{a: 1}",     "{a: {b: 1, c: [1]}}", "{a: {b: {c: 2}}}", "{b: {d: x}}", "{a: [1, 2], b: 3}",
        "{a: ~}", "{a: {b: ~}}"};
    for (const std::string& base : documents)
        for (const std::string& changes : documents) {
            INFO(base << " with " << changes);
            Node node = yaml(base);
            merge(node, yaml(changes));
            const std::string once = flow(node);
            merge(node, yaml("{}"));
            merge(node, yaml(changes));
            CHECK(flow(node) == once);
        }
}

TEST_CASE("an overridden value has the position of the override", "[memory]") {
    Node node = yaml("a: 1\nb: {c: 1}\n");
    merge(node, parse_assignment(library, "b.c=2"));
    const Location where = locate(node.find("b")->find("c")->mark);
    CHECK(where.file == "--set");
    CHECK(where.source_line == "b.c=2");
    CHECK(where.column == 5);
    CHECK(locate(node.find("b")->mark).file == "test.yaml");
}

TEST_CASE("a key that is a path means nested mappings", "[memory]") {
    CHECK(split("{a.b.c: 1}") == "{a: {b: {c: 1}}}");
    CHECK(split("{a.b: 1, a.c: 2, d: 3}") == "{a: {b: 1, c: 2}, d: 3}");
    CHECK(split("{a: {b: 1}, a.c: 2}") == "{a: {b: 1, c: 2}}");
    CHECK(split("{a.c: 2, a: {b: 1}}") == "{a: {c: 2, b: 1}}");
    CHECK(split("{a.b: {c: 1}, a.b.d: 2}") == "{a: {b: {c: 1, d: 2}}}");
    CHECK(split("{a: {b.c: 1}}") == "{a: {b.c: 1}}");
    CHECK(split("{variants: {v1.5: {}}}") == "{variants: {v1.5: {}}}");
    CHECK(split("[a.b]") == "[a.b]");
}

TEST_CASE("splitting a path equals nesting", "[memory]") {
    for (const char* text : {"{a.b.c: 1, a.d: [x.y]}", "{a.b: 1, c.d.e: ~, f: g}", "{}"}) {
        Node node = yaml(text);
        split_paths(node);
        const std::string once = flow(node);
        split_paths(node);
        CHECK(flow(node) == once);
    }
}

TEST_CASE("invalid paths are refused, all together", "[memory]") {
    Node node = yaml("a..b: 1\n.c: 2\nd.: 3\ne: 1\ne.f: 2\ng.h: 1\ng: {h: 2}\ni.j: 5\n");
    const auto errors = errors_of([&] { split_paths(node); });
    REQUIRE(errors.size() == 5);
    CHECK(errors[0].message == "this path has an empty part");
    CHECK(errors[0].where.column == 3);
    CHECK(errors[1].where.column == 1);
    CHECK(errors[2].where.column == 3);
    CHECK(errors[3].message == "'e' is set twice");
    CHECK(errors[3].where.line == 5);
    CHECK(errors[4].message == "'h' is set twice");
    CHECK(errors[4].hint == "the other one is in line 6");
    // The valid parts are returned in spite of the errors.
    CHECK(flow(*node.find("i")) == "{j: 5}");
}

TEST_CASE("an assignment is a document of its own", "[memory]") {
    const auto assigned = [](const std::string& text) { return flow(parse_assignment(library, text)); };
    CHECK(assigned("a=1") == "{a: 1}");
    CHECK(assigned("a.b.c=25 Gbps") == "{a: {b: {c: 25 Gbps}}}");
    CHECK(assigned("a.b=") == "{a: {b: ~}}");
    CHECK(assigned("a.b=~") == "{a: {b: ~}}");
    CHECK(assigned("a=x=y") == "{a: x=y}");
    CHECK(assigned("a={b: [1, 2]}") == "{a: {b: [1, 2]}}");
    CHECK(assigned("a={b.c: 1}") == "{a: {b.c: 1}}");
    CHECK(assigned("a=\"x\"") == "{a: x}");
}

TEST_CASE("an assignment's positions are columns of the argument", "[memory]") {
    const Node node = parse_assignment(library, "é.ü=[x, ö]");
    const Entry& first = node.entries.at(0);
    const Entry& second = first.value.entries.at(0);
    CHECK(locate(first.mark).column == 1);
    CHECK(locate(second.mark).column == 3);
    CHECK(locate(second.value.mark).column == 5);
    CHECK(locate(second.value.items.at(1).mark).column == 9);
    CHECK(locate(second.mark).file == "--set");
    CHECK(locate(second.mark).source_line == "é.ü=[x, ö]");
}

TEST_CASE("invalid assignments are refused at the wrong character", "[memory]") {
    const auto error_of = [](const std::string& text) {
        const auto errors = errors_of([&] { parse_assignment(library, text); });
        INFO(text);
        REQUIRE(errors.size() == 1);
        CHECK(errors[0].where.file == "--set");
        CHECK(errors[0].where.source_line == text);
        return fmt::format("{}: {}", errors[0].where.column, errors[0].message);
    };
    CHECK(error_of("ranks") == "1: missing '='");
    CHECK(error_of("=3") == "1: missing key before '='");
    CHECK(error_of("a..b=3") == "3: this path has an empty part");
    CHECK(error_of("a.=3") == "3: this path has an empty part");
    CHECK(error_of("a.b=[c") == "5: this '[' is not closed");
    CHECK(error_of("a=b: c: d") == "7: unexpected ':'");
    CHECK(error_of("a=*b") == "3: aliases are not supported");
    CHECK(errors_of([] { parse_assignment(library, ""); }).size() == 1);
}
