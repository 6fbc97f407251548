#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

#include "sim/base/diagnostics.hpp"
#include "sim/check/check.hpp"
#include "sim/config/scenario.hpp"
#include "sim/lesson/arithmetic.hpp"
#include "sim/replay/native.hpp"
#include "tests/cases/bench.hpp"
#include "tests/cases/case_file.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Runs the cases in `*.cases`. Each file is one test case, each expectation at least one assertion.

using namespace syncline;
using namespace syncline::test;
using nlohmann::json;

namespace {

/// An error as printed: the message with its place, the source line with a caret, the hint.
struct Printed {
    std::string file;
    int line = 0, column = 0;
    std::string message, source, caret, hint;
    bool taken = false;   ///< by an expectation
    bool excerpt = true;  ///< is expected
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::vector<Printed> errors_in(const std::string& text) {
    static const std::regex head("([^:\n]+):([0-9]+):([0-9]+): error: (.+)");
    std::vector<Printed> errors;
    for (const std::string& line : lines_of(text)) {
        std::smatch match;
        if (std::regex_match(line, match, head)) {
            errors.push_back({match[1], std::stoi(match[2]), std::stoi(match[3]), match[4], "", "", "", false, true});
        } else if (!errors.empty()) {
            Printed& last = errors.back();
            if (line.rfind("  hint: ", 0) == 0)
                last.hint = line.substr(8);
            else if (line.rfind("    ", 0) == 0)
                (last.source.empty() ? last.source : last.caret) = line;
        }
    }
    return errors;
}

/// What a command of a case did.
struct Ran {
    std::vector<std::string> words;
    std::string file;  ///< that it names, to which places without a file refer
    Outcome outcome;
};

/// Reads a file as `syncline check` does, but in this process; with assignments, as `syncline run` does.
Outcome read_in(const Bench& bench, const std::vector<std::string>& words) {
    struct Inside {
        explicit Inside(const fs::path& directory) { fs::current_path(directory); }
        ~Inside() { fs::current_path("/"); }
    } const inside(bench.directory().path());
    std::vector<std::string> assignments;
    for (std::size_t i = 1; i < words.size(); i += 2) {
        if (words[i] != "--set" || i + 1 == words.size()) throw std::runtime_error("read: FILE [--set KEY=VALUE] ...");
        assignments.push_back(words[i + 1]);
    }
    Outcome outcome;
    try {
        const std::string kind = assignments.empty() ? config::check_file(words.at(0), inspect) : "scenario";
        if (!assignments.empty()) config::load_scenario(words.at(0), assignments, inspect);
        outcome.out = words.at(0) + ": a correct " + kind + "\n";
    } catch (const ConfigError& error) {
        outcome.status = 3;
        outcome.err = error.what();
    }
    return outcome;
}

/// Returns whether the case expects an error that has the word.
bool expects(const Case& one, const std::string& word) {
    return std::any_of(one.errors.begin(), one.errors.end(),
                       [&](const ExpectedError& error) { return error.message.text.find(word) != std::string::npos; });
}

/// Errors of the user show nothing of the program's inside, and write nothing.
void check_refused(const Outcome& outcome, const Case& one, const Bench& bench) {
    std::string text = outcome.err;
    // Users know SimGrid's format of platforms: the key, and the kind of a foreign file.
    for (const std::string known : {"simgrid_xml", "simgrid (SimGrid's XML of a platform)", ", simgrid,"})
        while (text.find(known) != std::string::npos) text.erase(text.find(known), known.size());
    for (const char* word : {"xbt", "simgrid", "SimGrid", "terminate called", "bug in", "Assertion",
                             "what():", "yaml-cpp", "bad conversion", "std::", "Backtrace", "\x1b"})
        CHECK((text.find(word) == std::string::npos || expects(one, word)));
    CHECK_FALSE(fs::exists(bench.directory() / "out"));
    if (std::none_of(one.streams.begin(), one.streams.end(), [](const auto& stream) { return !stream.error_stream; }))
        CHECK(outcome.out.empty());
}

/// Returns the line of a text, without what is not shown of it.
std::string shown_line(const std::string& text, int number) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    const std::vector<std::string> lines = lines_of(text);
    std::string line =
        static_cast<std::size_t>(number) <= lines.size() ? lines[static_cast<std::size_t>(number) - 1] : "";
    if (line.rfind(byte_order_mark, 0) == 0) line.erase(0, byte_order_mark.size());
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return line;
}

/// The source line follows the message, with a caret under the wrong part, unless the place has no text.
void check_excerpt(const Printed& error, const Bench& bench) {
    constexpr std::size_t margin = 4, widest = 100;
    CAPTURE(error.file, error.line, error.column, error.message);
    const fs::path path = bench.directory() / error.file;
    // An error of a file that is not YAML shows the argument that names the file.
    const bool in_file = fs::is_regular_file(path) && error.source != std::string(margin, ' ') + error.file;
    const std::string line = in_file ? shown_line(read_file(path), error.line) : "";
    if (!error.excerpt || (in_file && line.empty())) {
        CHECK(error.source.empty());
        return;
    }
    CHECK_FALSE(error.source.empty());
    CHECK(std::regex_match(error.caret, std::regex(" {4,}\\^")));
    // A long line is cut, and characters that are not plain may have another width.
    const bool plain = std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!in_file || line.size() > widest || !plain) return;
    CHECK(error.source == std::string(margin, ' ') + line);
    CHECK(error.caret.size() == margin + static_cast<std::size_t>(error.column));
}

std::string expanded(const Case& one, const std::string& text) {
    std::optional<std::size_t> unused;
    return expand(one, text, unused);
}

void check_error(const Case& one, ExpectedError expected, std::vector<Printed>& errors, const Bench& bench,
                 const std::string& file) {
    for (ExpectedText* const text : {&expected.message, &expected.hint}) text->text = expanded(one, text->text);
    ExpectedPlace place = expected.place.value_or(ExpectedPlace{});
    if (!place.text.empty()) place = bench.place_of(place.text, file);
    place.file = place.file.empty() ? file : expanded(one, place.file);
    std::vector<Printed*> nearest;
    for (Printed& error : errors) {
        if (error.taken || !expected.message.matches(error.message)) continue;
        if (place.line == 0 || (error.file == place.file && error.line == place.line && error.column == place.column))
            nearest.push_back(&error);
    }
    std::string wanted = expected.message.text;
    if (place.line != 0) wanted += fmt::format(" at {}:{}:{}", place.file, place.line, place.column);
    CAPTURE(wanted);
    CHECK_FALSE(nearest.empty());
    if (nearest.empty()) return;
    nearest.front()->taken = true;
    nearest.front()->excerpt = expected.excerpt;
    if (expected.hint.text.empty()) return;
    CAPTURE(expected.hint.text);
    CHECK(expected.hint.matches(nearest.front()->hint));
}

/// Returns the value at a path: `results.0.ranks`, or `results.ring.ranks` for the item whose `variant` or `name` is
/// `ring`.
json value_at(const json& document, const std::string& path) {
    json value = document;
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, '.');) {
        json next;
        if (value.is_object()) {
            next = value.at(part);
        } else {
            for (std::size_t i = 0; i < value.size(); ++i) {
                const json& item = value.at(i);
                if (part == std::to_string(i) || (item.is_object() && (item.value("variant", json()) == json(part) ||
                                                                       item.value("name", json()) == json(part))))
                    next = item;
            }
        }
        if (next.is_null() && !value.is_object()) throw std::runtime_error("there is no " + path);
        value = next;
    }
    return value;
}

void check_field(const ExpectedField& expected, const Outcome& outcome) {
    const json found = value_at(json::parse(outcome.out), expected.path);
    const bool is_word = expected.value == "true" || expected.value == "false" || expected.value == "null";
    CAPTURE(expected.path, expected.value, found.dump());
    if (is_word || expected.value.front() == '"') {
        CHECK(found == json::parse(expected.value));
        return;
    }
    if (!found.is_number()) throw std::runtime_error(expected.path + " is no number");
    const double value = lesson::value_of(expected.value);
    const double within = expected.within.value_or(expected.percent.value_or(0) / 100 * std::abs(value));
    CHECK_THAT(found.get<double>(), Catch::Matchers::WithinAbs(value, within));
}

std::string at_line(const Case& one, int line) {
    return fmt::format("{}:{}: {}", fs::relative(one.source, SYNCLINE_SOURCE_DIR).string(), line, one.title);
}

void check_outcome(const Case& one, const Ran& ran, const Bench& bench) {
    const Outcome& outcome = ran.outcome;
    const bool wrong = !one.errors.empty() || one.error_count.value_or(0) > 0;
    const int status = one.exit_code.value_or(wrong ? 3 : 0);
    std::vector<Printed> errors = errors_in(outcome.err);
    {
        INFO(at_line(one, one.line));
        CAPTURE(outcome.out, outcome.err);
        CHECK(outcome.status == status);
        if (status == 2 || status == 3) check_refused(outcome, one, bench);
        if (wrong) CHECK((!errors.empty() && outcome.err.rfind(errors.front().file, 0) == 0));
        if (status != 3 || wrong) CHECK(errors.size() == one.error_count.value_or(one.errors.size()));
    }
    for (const ExpectedError& error : one.errors) {
        INFO(at_line(one, error.line));
        CAPTURE(outcome.err);
        check_error(one, error, errors, bench, ran.file);
    }
    for (const Printed& error : errors) {
        INFO(at_line(one, one.line));
        CAPTURE(outcome.err);
        check_excerpt(error, bench);
    }
    for (const ExpectedStream& stream : one.streams) {
        INFO(at_line(one, stream.line));
        const ExpectedText text{expanded(one, stream.text.text), stream.text.match};
        const std::string& found = stream.error_stream ? outcome.err : outcome.out;
        CAPTURE(found, text.text);
        CHECK(text.matches(found) != stream.absent);
    }
    for (const ExpectedField& field : one.fields) {
        INFO(at_line(one, field.line));
        check_field(field, outcome);
    }
    for (const ExpectedFile& written : one.written) {
        INFO(at_line(one, written.line));
        CAPTURE(written.name);
        CHECK(fs::exists(bench.directory() / written.name) != written.absent);
    }
}

void run_case(const Case& one) {
    Bench bench(one);
    std::optional<std::string> messages;
    for (const Command& command : one.commands) {
        Ran ran{bench.arguments(one, command), "", {}};
        const std::size_t of_file = command.in_process ? 0 : 1;
        if (ran.words.size() > of_file) ran.file = ran.words[of_file];
        ran.outcome = command.in_process ? read_in(bench, ran.words) : run_in(bench.directory(), ran.words);
        INFO("command in line " << command.line << ": " << fmt::format("{}", fmt::join(ran.words, " ")));
        check_outcome(one, ran, bench);
        // Commands of one case say the same.
        INFO(at_line(one, one.line));
        if (messages) CHECK(ran.outcome.err == *messages);
        messages = ran.outcome.err;
    }
    bench.require_row();
}

void run_file(const fs::path& file) {
    for (Case one : read_cases(file)) {
        one.texts.emplace_back("root", SYNCLINE_SOURCE_DIR);
        try {
            run_case(one);
        } catch (const std::exception& error) {
            FAIL_CHECK(at_line(one, one.line) << ": " << error.what());
        }
    }
}

class FileOfCases : public Catch::ITestInvoker {
public:
    explicit FileOfCases(fs::path file) : file_(std::move(file)) {}
    void invoke() const override { run_file(file_); }

private:
    fs::path file_;
};

/// Makes a test case of each file, when the program starts.
struct Registration {
    Registration() {
        std::set<fs::path> files;
        for (const auto& entry : fs::directory_iterator(SYNCLINE_SOURCE_DIR "/tests/cases"))
            if (entry.path().extension() == ".cases") files.insert(entry.path());
        for (const fs::path& file : files) {
            const std::string name = file.stem().string();
#if __has_include(<catch2/catch_all.hpp>)
            auto invoker = Catch::Detail::make_unique<FileOfCases>(file);
#else
            auto* const invoker = new FileOfCases(file);  // the registry owns it
#endif
            Catch::AutoReg(std::move(invoker), CATCH_INTERNAL_LINEINFO, "", Catch::NameAndTags(name, "[memory]"));
        }
    }
} const registration;

}  // namespace
