#include "sim/document/key_path.hpp"

#include <fmt/format.h>

#include "sim/document/override.hpp"
#include "tests/catch.hpp"

// Key paths with keys that contain dots: quoting, and errors in quotes.

using namespace syncline;
using namespace syncline::config;

namespace {

std::vector<std::string> keys(const std::string& text) {
    const KeyPath path = parse_path(text);
    CAPTURE(text);
    CHECK(path.error.empty());
    std::vector<std::string> result;
    for (const PathPart& part : path.parts) result.push_back(part.key);
    return result;
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("a path's parts are separated by dots, and a quoted part keeps its dots", "[memory]") {
    CHECK(keys("training") == Keys{"training"});
    CHECK(keys("training.ranks") == Keys{"training", "ranks"});
    CHECK(keys(R"(device.calibration."gpt-3.6b".throughput)") ==
          Keys{"device", "calibration", "gpt-3.6b", "throughput"});
    CHECK(keys(R"("a.b")") == Keys{"a.b"});
    CHECK(keys(R"(a."say ""b.c""".d)") == Keys{"a", R"(say "b.c")", "d"});
    const KeyPath path = parse_path(R"(a."b.c".d)");
    CHECK(path.parts[1].at == 2);
    CHECK(path.parts[2].at == 8);
}

TEST_CASE("an invalid path is an error at its place", "[memory]") {
    const auto check = [](const std::string& text, const std::string& error, std::size_t at) {
        CAPTURE(text);
        const KeyPath path = parse_path(text);
        CHECK(path.error == error);
        CHECK(path.error_at == at);
    };
    check("", "this path has an empty part", 0);
    check("a..b", "this path has an empty part", 2);
    check("a.", "this path has an empty part", 2);
    check(R"(a."".b)", "this path has an empty part", 2);
    check(R"(a."b.c)", "unclosed quote in this path", 2);
    check(R"(a."b"c.d)", "missing dot after the quote", 5);
    check(R"(a.b"c".d)", "quote in the middle of a key", 3);
}

TEST_CASE("a key is quoted if it needs quotes, and two spellings of a path are equal", "[memory]") {
    CHECK(path_part("gpt-3.6b") == R"("gpt-3.6b")");
    CHECK(path_part("gpt-2") == "gpt-2");
    for (const std::string key : {"a", "a.b", "a\"b", "a=b", "\"", "."}) CHECK(keys("x." + path_part(key))[1] == key);
    CHECK(plain_path(R"("training"."ranks")") == "training.ranks");
    CHECK(plain_path(R"(a."b.c".d)") == R"(a."b.c".d)");
    CHECK(plain_path(R"(a."b)") == R"(a."b)");
}

TEST_CASE("an assignment is cut at the first '=' outside quotes", "[memory]") {
    CHECK(end_of_path("a.b=c=d") == 3);
    CHECK(end_of_path(R"(a."b=c".d=5)") == 9);
    CHECK(end_of_path("a.b") == std::string::npos);
    Library library;
    const Node node = parse_assignment(library, R"(platform.device.calibration."gpt-3.6b".batch=8)");
    const Node* batch = node.find("platform")->find("device")->find("calibration")->find("gpt-3.6b")->find("batch");
    REQUIRE(batch);
    CHECK(batch->scalar == "8");
    try {
        parse_assignment(library, R"(platform."device.flops=8)");
        FAIL("no error");
    } catch (const ConfigError& error) {
        CHECK(error.diagnostics()[0].where.column == 10);
        CHECK(error.diagnostics()[0].message == "unclosed quote in this path");
        CHECK(error.diagnostics()[0].hint.find(R"(calibration."gpt-3.6b".throughput)") != std::string::npos);
    }
}
