#include "sim/lesson/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "sim/base/diagnostics.hpp"
#include "sim/base/trimmed.hpp"
#include "sim/base/units.hpp"
#include "sim/lesson/markdown_table.hpp"

namespace syncline::lesson {

namespace {

constexpr std::size_t most_rows = 5;
constexpr std::string_view mistakes = "Typical mistakes";

[[noreturn]] void refuse(const Lesson& lesson, const Row& row, std::string message, std::string hint) {
    std::filesystem::path file = lesson.scenario;
    const Location where{file.replace_extension(".md").string(), row.line, 1, row.source};
    throw ConfigError({{where, std::move(message), std::move(hint)}});
}

/// Reads "1.2 s", "88.98 ms ± 0.5 %", or "0.8 + 4·0.1 = 1.2 s".
double time_in(const Lesson& lesson, const Row& row, std::size_t column) {
    std::string_view text = column < row.cells.size() ? std::string_view(row.cells[column]) : "";
    if (const std::size_t equals = text.rfind('='); equals != text.npos) text.remove_prefix(equals + 1);
    const std::string value(trimmed(text.substr(0, text.find("±")), blanks));
    const Quantity time = parse_quantity(value, Dimension::seconds);
    if (!time.value || *time.value <= 0)
        refuse(lesson, row, fmt::format("'{}' is not a time", value),
               "it must be positive, such as `1.2 s` or `800 ms`");
    return *time.value;
}

Questionnaire whole_answer(const Lesson& lesson) {
    Questionnaire all;
    for (const Table& table : tables(lesson.handout, section_names.at(Part::answer))) {
        const Row& header = table.front();
        all.column = column_of(header, "iteration") < header.cells.size() ? "iteration" : "time";
        const std::size_t column = column_of(header, all.column), size = column_of(header, "size");
        if (column == header.cells.size()) continue;
        for (std::size_t i = 1; i < table.size(); ++i) {
            const std::vector<std::string>& cells = table[i].cells;
            all.seconds.push_back(time_in(lesson, table[i], column));  // refuses a row without cells
            all.rows.push_back(size < cells.size() ? cells[0] + " " + cells[size] : cells[0]);
        }
        break;
    }
    return all;
}

}  // namespace

Questionnaire questionnaire(const Lesson& lesson) {
    const Questionnaire all = whole_answer(lesson);
    Questionnaire asked{all.column, {}, {}, {}};
    const auto ask = [&](std::size_t i) {
        asked.rows.push_back(all.rows[i]);
        asked.seconds.push_back(all.seconds[i]);
    };
    const std::vector<Table> wrong = tables(lesson.handout, mistakes);
    if (wrong.empty()) {
        for (std::size_t i = 0; i < std::min(all.rows.size(), most_rows); ++i) ask(i);
        return asked;
    }
    const Row& header = wrong.front().front();
    for (std::size_t i = 1; i < header.cells.size(); ++i) {
        const auto row = std::ranges::find(all.rows, header.cells[i]);
        if (row == all.rows.end())
            refuse(lesson, header, fmt::format("'{}' is not a row of the answer", header.cells[i]),
                   fmt::format("there are {}", fmt::join(all.rows, ", ")));
        ask(static_cast<std::size_t>(row - all.rows.begin()));
    }
    for (std::size_t i = 1; i < wrong.front().size(); ++i) {
        const Row& row = wrong.front()[i];
        WrongModel model{row.cells.empty() ? "" : row.cells[0], {}, {}};
        for (std::size_t k = 1; k < header.cells.size(); ++k) {
            model.seconds.push_back(time_in(lesson, row, k));
            model.cells.push_back(row.cells.at(k));
        }
        asked.wrong_models.push_back(std::move(model));
    }
    return asked;
}

double distance(const Prediction& prediction, const std::vector<double>& seconds) {
    double sum = 0;
    int count = 0;
    for (std::size_t i = 0; i < prediction.size(); ++i) {
        if (!prediction[i]) continue;
        sum += std::abs(std::log(*prediction[i] / seconds.at(i)));
        ++count;
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::infinity();
}

bool is_right(const Questionnaire& questionnaire, const Prediction& prediction) {
    constexpr double right = 0.04;
    return distance(prediction, questionnaire.seconds) < right;
}

const WrongModel* recognised(const Questionnaire& questionnaire, const Prediction& prediction) {
    if (is_right(questionnaire, prediction)) return nullptr;
    constexpr double near = 0.14, nearer_than_the_answer = 0.6;
    double least = std::min(near, nearer_than_the_answer * distance(prediction, questionnaire.seconds));
    const WrongModel* nearest = nullptr;
    for (const WrongModel& model : questionnaire.wrong_models) {
        const double its = distance(prediction, model.seconds);
        if (its >= least) continue;
        least = its;
        nearest = &model;
    }
    return nearest;
}

std::string judgement(const Questionnaire& questionnaire, const Prediction& prediction) {
    const double off = distance(prediction, questionnaire.seconds);
    if (std::isinf(off)) return "";
    if (is_right(questionnaire, prediction)) return "You have it.";
    if (const WrongModel* const model = recognised(questionnaire, prediction))
        return fmt::format("Your prediction is the model \"{}\".", model->name);
    return fmt::format("Off by a factor of {:.2g} on average.", std::exp(off));
}

}  // namespace syncline::lesson
