#include "sim/base/diagnostics.hpp"

#include <random>
#include <string>
#include <vector>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/utf8.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = text.find('\n', begin);
        result.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return result;
}

/// Returns the characters of `text` up to the position of the caret in the line below.
std::string before_caret(const std::string& rendered) {
    const auto shown = lines(rendered);
    std::string_view rest = shown.at(1);
    for (std::size_t i = 0; i < shown.at(2).find('^'); ++i) take_character(rest);
    return shown.at(1).substr(0, shown.at(1).size() - rest.size());
}

}  // namespace

TEST_CASE("a diagnostic is rendered with its line, a caret and a hint", "[memory]") {
    CHECK(render({{"scenario.yaml", 4, 3, "  rnks: 32"}, "unknown key 'rnks'", "did you mean 'ranks'?"}) ==
          "scenario.yaml:4:3: error: unknown key 'rnks'\n"
          "      rnks: 32\n"
          "      ^\n"
          "  hint: did you mean 'ranks'?\n");
    CHECK(render({{"a.yaml", 1, 1, "x"}, "wrong", ""}) == "a.yaml:1:1: error: wrong\n    x\n    ^\n");
    CHECK(render({{"a.yaml", 9, 1, ""}, "wrong", ""}) == "a.yaml:9:1: error: wrong\n");
}

TEST_CASE("the caret is under its character, after tabs and UTF-8", "[memory]") {
    CHECK(before_caret(render({{"f", 1, 4, "\ta: b"}, "m", ""})) == "     a:");
    CHECK(before_caret(render({{"f", 1, 3, "é: ü"}, "m", ""})) == "    é:");
    // Wide characters take two columns each: the caret is under the colon after them.
    CHECK(lines(render({{"f", 1, 3, "日本: x"}, "m", ""})).at(2) == "        ^");
    CHECK(lines(render({{"f", 1, 3, "e\u0301: x"}, "m", ""})).at(2) == "     ^");
}

TEST_CASE("a column past the end points after the line", "[memory]") {
    CHECK(lines(render({{"f", 1, 99, "abc"}, "m", ""})).at(2) == "       ^");
    CHECK(lines(render({{"f", 1, 0, "abc"}, "m", ""})).at(2) == "    ^");
}

TEST_CASE("long lines are cut to a window around the caret", "[memory]") {
    std::mt19937 random(1);
    std::string line;
    for (int i = 0; i < 1000; ++i) line += i % 7 == 0 ? "é" : std::string(1, static_cast<char>('a' + random() % 26));
    const std::size_t length = count_characters(line);
    for (std::size_t column = 1; column <= length; column += 13) {
        const std::string rendered = render({{"f", 1, static_cast<int>(column), line}, "m", ""});
        const auto shown = lines(rendered);
        CHECK(count_characters(shown.at(1)) <= 106);
        std::string_view after = line;
        for (std::size_t i = 1; i < column; ++i) take_character(after);
        const std::string below = shown.at(1).substr(before_caret(rendered).size());
        CHECK(after.substr(0, 3) == below.substr(0, std::min<std::size_t>(3, after.size())));
    }
}

TEST_CASE("rendered text cannot control the terminal", "[memory]") {
    const std::string evil = "\x1b[31m\x07\x7f\xc2\x9b\xff\x80\r\n\tx";
    const std::string rendered = render({{evil, 1, 2, evil}, evil, evil});
    CHECK(lines(rendered).size() == 4);
    for (std::string_view rest = rendered; !rest.empty();) {
        const auto character = take_character(rest);
        REQUIRE(character);
        CHECK((*character == '\n' || !is_control(*character)));
    }
}

TEST_CASE("a message of any length is cut", "[memory]") {
    const std::string rendered = render({{"f", 1, 1, "x"}, std::string(1'000'000, 'm'), ""});
    CHECK(rendered.size() < 1000);
    CHECK(rendered.find("…") != std::string::npos);
}

TEST_CASE("a ConfigError lists all errors, up to a screenful", "[memory]") {
    const Diagnostic one{{"f", 1, 1, "x"}, "wrong", ""};
    CHECK(std::string(ConfigError({one, one}).what()) == render(one) + render(one));
    const ConfigError many(std::vector<Diagnostic>(100, one));
    CHECK(many.diagnostics().size() == 100);
    CHECK(std::string(many.what()).ends_with("and 80 more errors\n"));
}

TEST_CASE("the closest word is suggested", "[memory]") {
    const std::vector<std::string> keys{"ranks", "batch_per_rank", "overlap", "iterations", "exchange"};
    CHECK(closest("rnks", keys) == "ranks");
    CHECK(closest("ranke", keys) == "ranks");
    CHECK(closest("rakns", keys) == "ranks");
    CHECK(closest("RANKS", keys) == "ranks");
    CHECK(closest("batch_per_ranks", keys) == "batch_per_rank");
    CHECK(closest("Gbsp", {"GBps", "Gbps"}) == "Gbps");
    CHECK_FALSE(closest("bandwidth", keys));
    CHECK_FALSE(closest("", keys));
    CHECK_FALSE(closest("k", {"s"}));
    CHECK_FALSE(closest("ranks", {}));
    CHECK_FALSE(closest(std::string(1'000'000, 'x'), keys));
    CHECK(did_you_mean("rnks", keys, "write a key") == "did you mean 'ranks'?");
    CHECK(did_you_mean("bandwidth", keys, "write a key") == "write a key");
    CHECK(did_you_mean("bandwidth", keys).empty());
}

TEST_CASE("a single typing error is always corrected", "[memory]") {
    const std::vector<std::string> keys{"ranks", "overlap", "iterations", "exchange", "bandwidth"};
    std::mt19937 random(1);
    for (const std::string& key : keys)
        for (int i = 0; i < 200; ++i) {
            std::string word = key;
            const std::size_t at = random() % (word.size() - 1);
            const char letter = static_cast<char>('a' + random() % 26);
            switch (random() % 4) {
                case 0:
                    word.erase(at, 1);
                    break;
                case 1:
                    word.insert(at, 1, letter);
                    break;
                case 2:
                    word[at] = letter;
                    break;
                default:
                    std::swap(word[at], word[at + 1]);
                    break;
            }
            INFO(word);
            CHECK(closest(word, keys) == key);
        }
}

TEST_CASE("UTF-8 is read strictly", "[memory]") {
    for (const char* wrong : {"\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xff"}) {
        std::string_view rest = wrong;
        CHECK_FALSE(take_character(rest));
    }
    std::string_view rest = "é€😀a";
    CHECK(take_character(rest) == U'é');
    CHECK(take_character(rest) == U'€');
    CHECK(take_character(rest) == U'😀');
    CHECK(rest == "a");
}
