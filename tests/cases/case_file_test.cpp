#include "tests/cases/case_file.hpp"
#include "sim/lesson/arithmetic.hpp"

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// The format of cases: a file that is not of it, or expects nothing, is an error, not a test that passes.

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<Case> read(const std::string& text) {
    const TempDir directory;
    return read_cases(directory.write("test.cases", text));
}

std::string refusal(const std::string& text) {
    try {
        read(text);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("format: rows are cases with the files, texts and expectations above them") {
    const std::vector<Case> cases = read(
        "file a.yaml:\n  x:\n    $row\n\nlet k = v\ncase: one\nexpect exit 2\n- first\n- \" b\\n\"\n  let k = w\n"
        "  expect no errors\ncase: two\nrun: check 'a b' \"c\\td\"\nexpect error at a.yaml:3:5 = \"m\" hint \"h\"\n");
    REQUIRE(cases.size() == 3);
    CHECK(cases[0].title == "one");
    CHECK(cases[0].files == std::vector<std::pair<std::string, std::string>>{{"a.yaml", "x:\n  $row\n"}});
    CHECK(cases[0].exit_code == 2);
    CHECK_FALSE(cases[0].error_count);
    CHECK(*find(cases[0].texts, "row") == "first");
    CHECK(*find(cases[0].texts, "k") == "v");
    CHECK(*find(cases[1].texts, "row") == " b\n");
    CHECK(*find(cases[1].texts, "k") == "w");
    CHECK(cases[1].error_count == 0U);
    CHECK(cases[0].commands.at(0).in_process);
    CHECK(find(cases[2].texts, "row") == nullptr);
    CHECK_FALSE(cases[2].exit_code);
    CHECK(cases[2].commands.at(0).words == std::vector<std::string>{"check", "a b", "c\td"});
    const ExpectedError& error = cases[2].errors.at(0);
    CHECK(error.place->file == "a.yaml");
    CHECK(error.place->line == 3);
    CHECK(error.place->column == 5);
    CHECK(error.message.matches("m"));
    CHECK_FALSE(error.message.matches("mm"));
    CHECK(error.hint.matches("the hint"));
    CHECK_FALSE(error.hint.matches("int"));
}

TEST_CASE("format: what is not of it is an error at its line") {
    const std::pair<const char*, const char*> mistakes[] = {
        {"", "there are no cases"},
        {"case: a\n", "test.cases:1: this case expects nothing"},
        {"case: a\n- x\n  expect exit 1\n- y\n", "test.cases:4: this case expects nothing"},
        {"case: a\nexpects exit 1\n", "test.cases:2: unknown directive"},
        {"case: a\nexpect exti 1\n", "test.cases:2: unknown expectation 'exti'"},
        {"case: a\nexpect exit one\n", "'one' is not a number"},
        {"case: a\nexpect error\n", "neither a place nor a message"},
        {"case: a\nexpect error at 5 \"m\"\n", "'5' is not LINE:COLUMN"},
        {"case: a\nexpect error \"m\n", "a quote is not closed"},
        {"case: a\nexpect error \"\\q\"\n", "unknown escape '\\q'"},
        {"case: a\nexpect error \"m\" tip \"h\"\n", "unexpected 'tip \"h\"'"},
        {"case: a\nexpect output m\n", "a text in quotes is missing"},
        {"case: a\nexpect 2 error \"m\"\n", "'errors' is missing"},
        {"- x\n", "a row is before the first case"},
        {"file a.yaml\n", "neither ':' nor ' = ' follows the name"},
        {"file a.yaml:\ncase: a\n", "an indented block is missing"},
        {"case: a\nchange \"x\"\n", "write: change"},
        {"case: a\nrun: check 'a\n", "a quote is not closed"},
    };
    for (const auto& [text, message] : mistakes) {
        CAPTURE(text);
        CHECK_THAT(refusal(text), ContainsSubstring(message));
    }
    CHECK_THROWS_WITH(read_cases("/absent.cases"), ContainsSubstring("cannot be read"));
}

TEST_CASE("format: names are replaced in names' texts, and an unknown or endless one is an error") {
    Case one;
    one.texts = {{"row", "R$x"}, {"a", "<$row>"}, {"loop", "$loop"}};
    std::optional<std::size_t> row_at;
    CHECK(expand(one, "k: $a, $$5", row_at) == "k: <R$x>, $5");
    CHECK(row_at == 4U);
    CHECK_THROWS_WITH(expand(one, "$b", row_at), ContainsSubstring("'$b' has no text"));
    CHECK_THROWS(expand(one, "$loop", row_at));
}

TEST_CASE("format: arithmetic has the usual precedence") {
    CHECK(lesson::value_of("1 + 2 * 3 - 8 / 4 / 2") == 6);
    CHECK(lesson::value_of("6 * (2e-6 + 1e-6)") == Approx(18e-6));
    CHECK(lesson::value_of("-(2 - 5) * -2") == -6);
    for (const char* wrong : {"", "1 +", "(1", "1 2", "x", "1 ** 2"}) {
        CAPTURE(wrong);
        CHECK_THROWS(lesson::value_of(wrong));
    }
}
