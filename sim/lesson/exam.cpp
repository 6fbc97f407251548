#include "sim/lesson/exam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "sim/base/mulberry32.hpp"
#include "sim/base/number.hpp"
#include "sim/base/regular_file.hpp"
#include "sim/base/trimmed.hpp"
#include "sim/base/units.hpp"
#include "sim/document/read_text.hpp"
#include "sim/lesson/arithmetic.hpp"
#include "sim/lesson/exam_table.hpp"
#include "sim/lesson/markdown_table.hpp"

namespace syncline::lesson {

namespace {

namespace fs = std::filesystem;

/// Headings of an exam's sections.
namespace heading {
constexpr std::string_view numbers = "Numbers", question = "Question", settings = "Settings", answer = "Answer",
                           mistakes = "Typical mistakes";
}

[[noreturn]] void refuse(const std::string& file, int line, const std::string& source, std::string message,
                         std::string hint) {
    throw ConfigError({{{file, line, 1, source}, std::move(message), std::move(hint)}});
}

struct Line {
    std::string text;
    int number = 0;
};

using Sections = std::map<std::string, std::vector<Line>, std::less<>>;

Sections sections_of(const std::string& file, const std::string& text) {
    Sections sections;
    std::vector<Line>* section = nullptr;
    std::istringstream stream(text);
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        if (line.starts_with("## "))
            section = &sections[std::string(trimmed(std::string_view(line).substr(3), blanks))];
        else if (section != nullptr)
            section->push_back({line, number});
    }
    for (const std::string_view needed : {heading::numbers, heading::question, heading::settings, heading::answer})
        if (!sections.contains(needed))
            refuse(file, 1, "", fmt::format("the exam has no section '{}'", needed),
                   "it needs '## Numbers', '## Question', '## Settings' and '## Answer'");
    return sections;
}

/// Returns the numbers between commas; nothing if there is anything else.
std::optional<std::vector<double>> listed(std::string_view text) {
    std::vector<double> all;
    while (true) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto one = number_in<double>(trimmed(text.substr(0, comma), blanks));
        if (!one) return {};
        all.push_back(*one);
        if (comma == text.size()) return all;
        text.remove_prefix(comma + 1);
    }
}

Values drawn(const std::string& file, const std::string& text, std::uint32_t state) {
    Mulberry32 generator(state);
    const std::vector<Table> found = tables(text, heading::numbers);
    Values values;
    for (std::size_t i = 1; !found.empty() && i < found.front().size(); ++i) {
        const Row& row = found.front()[i];
        if (row.cells.size() != 2 || row.cells[0].empty())
            refuse(file, row.line, row.source, "a row of the numbers has a name and its values",
                   "such as `| S | 50, 100, 200 |`");
        try {
            const auto choices = listed(row.cells[1]);
            values[row.cells[0]] = choices ? choices->at(generator.below(static_cast<std::uint32_t>(choices->size())))
                                           : value_of(row.cells[1], values);
        } catch (const ArithmeticError& problem) {
            refuse(file, row.line, row.source, problem.what(), "write numbers between commas, or an expression");
        }
    }
    if (values.empty())
        refuse(file, 1, "", "the exam has no numbers to draw", "list them in a table under '## Numbers'");
    return values;
}

/// Returns the text with the values of what is in braces.
std::string filled(std::string_view text, const Values& values) {
    std::string result;
    while (!text.empty()) {
        const std::size_t begin = std::min(text.find('{'), text.size());
        result += text.substr(0, begin);
        text.remove_prefix(begin);
        if (text.empty()) break;
        const std::size_t end = text.find_first_of("{}:", 1);
        if (end == text.npos || text[end] != '}' || end == 1) {  // a mapping of YAML
            result += '{';
            text.remove_prefix(1);
            continue;
        }
        result += fmt::format("{:.12g}", value_of(text.substr(1, end - 1), values));
        text.remove_prefix(end + 1);
    }
    return result;
}

void fill(const std::string& file, std::vector<Line>& lines, const Values& values) {
    for (Line& line : lines) {
        try {
            line.text = filled(line.text, values);
        } catch (const ArithmeticError& problem) {
            refuse(file, line.number, line.text, problem.what(), "names are those of the section 'Numbers'");
        }
    }
}

std::string joined(const std::vector<Line>& lines) {
    std::string text;
    for (const Line& line : lines) text += line.text + "\n";
    return std::string(trimmed(text, "\n")) + "\n";
}

std::vector<std::string> assignments(const std::string& file, const std::vector<Line>& lines) {
    std::vector<std::string> all;
    for (const Line& line : lines) {
        const std::string text(trimmed(line.text, blanks));
        if (text.empty() || text.starts_with("```")) continue;
        if (line.text.front() == ' ' && !all.empty()) {
            all.back() += " " + text;
            continue;
        }
        const std::size_t colon = text.find(": ");
        if (colon == text.npos)
            refuse(file, line.number, line.text, "a setting has a key and a value", "such as `training.ranks: {n}`");
        all.push_back(text.substr(0, colon) + "=" + text.substr(colon + 2));
    }
    return all;
}

void ask(Exam& exam, const std::vector<Line>& lines) {
    const auto line_of = [&](const Row& row) { return lines.front().number + row.line - 2; };
    const Table table = table_of([&] {
        std::string text;
        for (const Line& line : lines) text += line.text + "\n";
        return text;
    }());
    if (table.size() < 2) refuse(exam.file, 1, "", "the exam's answer has no table", "");
    const Row& header = table.front();
    const std::size_t size = column_of(header, "size");
    for (std::size_t i = 1; i < table.size(); ++i) {
        const Row& row = table[i];
        const auto wrong = [&](std::string message, std::string hint) {
            refuse(exam.file, line_of(row), row.source, std::move(message), std::move(hint));
        };
        if (row.cells.size() != header.cells.size())
            wrong(fmt::format("the row has {} cells, the heading {}", row.cells.size(), header.cells.size()), "");
        if (std::ranges::find(exam.variants, row.cells[0]) == exam.variants.end())
            exam.variants.push_back(row.cells[0]);
        for (std::size_t k = 1; k < header.cells.size(); ++k) {
            if (k == size || is_formula(header.cells[k])) continue;
            const AnswerColumn* const column = answer_column(header.cells[k]);
            if (column == nullptr) wrong(fmt::format("there is no answer '{}'", header.cells[k]), "");
            Expectation one;
            one.variant = row.cells[0];
            one.field = column->field;
            one.value = 0;
            one.field_at = {exam.file, line_of(row), 1, row.source};
            if (size < row.cells.size()) {
                const Quantity bytes = parse_quantity(row.cells[size], Dimension::bytes);
                if (!bytes.value) wrong(bytes.error, bytes.hint);
                one.bytes = static_cast<std::uint64_t>(*bytes.value);
            }
            exam.asked.push_back(std::move(one));
        }
    }
}

}  // namespace

Exam exam(const Lesson& lesson, std::uint32_t seed) {
    const fs::path file = lesson.scenario.parent_path() / "exam" / lesson.scenario.stem().concat(".md");
    Exam exam;
    exam.file = file.string();
    if (!is_regular(file))
        refuse(exam.file, 1, "", fmt::format("lesson '{}' has no exam", lesson.name),
               "write one as the README.md of the lessons describes");
    const config::Text read = config::read_text(file);
    if (!read.text) refuse(exam.file, 1, "", read.error, read.hint);
    Sections sections = sections_of(exam.file, *read.text);
    const Values values = drawn(exam.file, *read.text, seed * 7 + static_cast<std::uint32_t>(lesson.number));
    for (auto& [name, lines] : sections)
        if (name != heading::numbers) fill(exam.file, lines, values);
    exam.title = fmt::format("Lesson {}, variant {}: {}", lesson.number, seed, lesson.title);
    exam.name = fmt::format("{}:{}", lesson.name, seed);
    exam.scenario = "scenarios/lessons/" + lesson.scenario.filename().string();
    exam.question = joined(sections.at(std::string(heading::question)));
    exam.settings = assignments(exam.file, sections.at(std::string(heading::settings)));
    const std::vector<Line>& answers = sections.at(std::string(heading::answer));
    ask(exam, answers);
    exam.answer = joined(answers);
    if (const auto wrong = sections.find(heading::mistakes); wrong != sections.end())
        exam.mistakes = joined(wrong->second);
    return exam;
}

}  // namespace syncline::lesson
