#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "sim/base/diagnostics.hpp"
#include "sim/base/number.hpp"
#include "sim/base/shell_word.hpp"
#include "sim/base/units.hpp"
#include "sim/lesson/arithmetic.hpp"
#include "sim/lesson/exam.hpp"
#include "sim/lesson/exam_table.hpp"

namespace syncline::lesson {

namespace {

/// Throws a ConfigError about the wrong models.
[[noreturn]] void refuse_mistakes(const Exam& exam, const std::string& problem) {
    throw ConfigError({{{exam.file, 1, 1, ""}, "typical mistakes: " + problem, ""}});
}

std::string row_of(const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string text_of(const std::vector<std::vector<std::string>>& rows) {
    std::string text = row_of(rows.front()) + "|";
    for (std::size_t i = 0; i < rows.front().size(); ++i) text += "---|";
    text += "\n";
    for (std::size_t i = 1; i < rows.size(); ++i) text += row_of(rows[i]);
    return text;
}

/// Returns `section` with another table in the place of its own.
std::string with_table(const std::string& section, const std::string& table) {
    std::string text;
    std::istringstream stream(section);
    bool written = false;
    for (std::string line; std::getline(stream, line);) {
        if (!line.starts_with('|'))
            text += line + "\n";
        else if (!std::exchange(written, true))
            text += table;
    }
    return text;
}

/// Returns the answer's table with the values that were found.
std::vector<std::vector<std::string>> answered_table(const Exam& exam, const std::vector<double>& found) {
    const Table table = table_of(exam.answer);
    std::vector<std::vector<std::string>> rows{table.front().cells};
    std::size_t next = 0;
    for (std::size_t i = 1; i < table.size(); ++i) {
        rows.push_back(table[i].cells);
        for (std::size_t k = 1; k < rows.back().size(); ++k) {
            const AnswerColumn* const column = answer_column(rows.front()[k]);
            if (column == nullptr) continue;
            std::string& cell = rows.back()[k];
            cell = fmt::format("{}{}{}", shown(found.at(next++), column->kind), cell.empty() ? "" : " ", cell);
        }
    }
    return rows;
}

/// Returns the time that a formula's unit is: 0.001 for the heading "formula (ms)".
double unit_of(const std::string& heading) {
    const std::size_t begin = heading.find('('), end = heading.find(')');
    if (begin == heading.npos || end == heading.npos) return 1;
    return parse_quantity("1 " + heading.substr(begin + 1, end - begin - 1), Dimension::seconds).value.value_or(1);
}

/// The answer's times, by the names of their rows: "ring" or "ring 16 MB".
struct Right {
    std::map<std::string, std::string> cells;
    std::map<std::string, double> seconds;
    double unit = 1;  ///< of the formulas
};

Right right_times(const Exam& exam, const std::vector<double>& found) {
    Right right;
    const auto rows = answered_table(exam, found);
    const std::vector<std::string>& header = rows.front();
    const std::size_t size = column_of({header, 0, ""}, "size");
    std::size_t next = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const std::string row = size < header.size() ? rows[i][0] + " " + rows[i][size] : rows[i][0];
        for (std::size_t k = 1; k < header.size(); ++k) {
            const AnswerColumn* const column = answer_column(header[k]);
            if (column == nullptr) continue;
            if (column->heading == "iteration" || column->heading == "time") {
                right.cells[row] = rows[i][k];
                right.seconds[row] = found.at(next);
            }
            ++next;
        }
    }
    if (const auto formula = std::ranges::find_if(header, is_formula); formula != header.end())
        right.unit = unit_of(*formula);
    return right;
}

/// Returns the table of wrong models with their times, without those that happen to be right with these numbers; "" if
/// there are none.
std::string mistakes_table(const Exam& exam, const std::vector<double>& found) {
    const Table table = table_of(exam.mistakes);
    if (table.empty()) return "";
    constexpr double same = 0.002;
    const Right right = right_times(exam, found);
    std::vector<std::vector<std::string>> rows{table.front().cells};
    for (std::size_t i = 1; i < table.size(); ++i) {
        std::vector<std::string> cells = table[i].cells;
        cells.resize(rows.front().size());
        bool differs = false;
        for (std::size_t k = 1; k < cells.size(); ++k) {
            const std::string& row = rows.front()[k];
            if (!right.cells.contains(row)) refuse_mistakes(exam, fmt::format("'{}' is not a row of the answer", row));
            if (cells[k].empty()) {
                cells[k] = right.cells.at(row);
                continue;
            }
            try {
                const double seconds = value_of(cells[k]) * right.unit, answer = right.seconds.at(row);
                const std::string time = format_quantity(seconds, Dimension::seconds);
                cells[k] = number_in<double>(cells[k]) ? time : cells[k] + " = " + time;
                differs |= std::abs(seconds - answer) > same * answer;
            } catch (const ArithmeticError& problem) {
                refuse_mistakes(exam, problem.what());
            }
        }
        if (differs) rows.push_back(std::move(cells));
    }
    return rows.size() > 1 ? text_of(rows) : "";
}

std::string command(const Exam& exam) {
    std::string text = "```sh\nbuild/release/syncline run " + exam.scenario;
    for (const std::string& one : exam.settings) text += " \\\n  --set " + shell_word(one);
    for (const std::string& one : exam.variants)
        text += (one == exam.variants.front() ? " \\\n " : "") + std::string(" --variant ") + shell_word(one);
    return text + "\n```\n";
}

}  // namespace

std::string sheet(const Exam& exam) {
    const Table table = table_of(exam.answer);
    const auto given = [](const std::string& heading) { return heading == "size"; };
    std::vector<std::vector<std::string>> rows;
    for (const Row& row : table) {
        rows.emplace_back();
        for (std::size_t k = 0; k < row.cells.size(); ++k) {
            const std::string& heading = table.front().cells[k];
            if (is_formula(heading)) continue;
            const bool known = k == 0 || rows.size() == 1 || given(heading);
            rows.back().push_back(known ? row.cells[k] : "……………………");
        }
    }
    return fmt::format("# {}\n\nName: ………………………………………………\n\n## Question\n\n{}\n## Answer\n\n{}", exam.title,
                       exam.question, text_of(rows));
}

std::string solution(const Exam& exam, const std::vector<double>& found) {
    std::string text = "## Solution\n\n" + with_table(exam.answer, text_of(answered_table(exam, found))) +
                       "\nThe answers are simulated:\n\n" + command(exam);
    if (const std::string wrong = mistakes_table(exam, found); !wrong.empty())
        text += "\n## Typical mistakes\n\n" + with_table(exam.mistakes, wrong);
    return text;
}

Lesson answered(const Exam& exam, const std::vector<double>& found) {
    Lesson lesson;
    lesson.name = exam.name;
    lesson.title = exam.title;
    lesson.scenario = exam.file;
    lesson.handout = "## Answer\n" + text_of(answered_table(exam, found));
    if (const std::string wrong = mistakes_table(exam, found); !wrong.empty())
        lesson.handout += "## Typical mistakes\n" + wrong;
    return lesson;
}

}  // namespace syncline::lesson
