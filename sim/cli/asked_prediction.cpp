#include "sim/cli/asked_prediction.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

std::string line_of_input() {
    std::string line;
    if (!std::getline(std::cin, line)) {
        say("\n");
        throw Interrupted("the input ended before the prediction, so nothing was simulated");
    }
    return line;
}

/// Returns nothing for a row that is skipped.
std::optional<double> asked_time(const std::string& row) {
    while (true) {
        say("  {}: ", row);
        const std::string line = line_of_input();
        if (line.find_first_not_of(" \t\r") == line.npos) return {};
        const Quantity time = parse_quantity(line, Dimension::seconds);
        if (time.value && *time.value > 0) return time.value;
        say("  {}; a number and a unit, such as 1.2 s or 800 ms\n", time.value ? "A time is positive" : time.error);
    }
}

}  // namespace

lesson::Prediction asked_prediction(const lesson::Questionnaire& questionnaire) {
    say("Your prediction of the {}, with its unit (1.2 s, 800 ms). An empty line skips a row.\n",
        questionnaire.column == "iteration" ? "iteration's time" : "time");
    lesson::Prediction prediction;
    for (const std::string& row : questionnaire.rows) prediction.push_back(asked_time(row));
    return prediction;
}

std::string compared(const lesson::Questionnaire& questionnaire, const lesson::Prediction& prediction) {
    const lesson::WrongModel* const model = lesson::recognised(questionnaire, prediction);
    std::vector<text::Row> rows{{"your prediction", "predicted", "answer", "difference"}};
    if (model != nullptr) rows.front().push_back("this model");
    for (std::size_t i = 0; i < prediction.size(); ++i) {
        if (!prediction[i]) continue;
        const double answer = questionnaire.seconds.at(i), percent = (*prediction[i] / answer - 1) * 100;
        rows.push_back({questionnaire.rows.at(i), text::seconds(*prediction[i]), text::seconds(answer),
                        std::abs(percent) < 0.5 ? "0 %" : fmt::format("{:+.0f} %", percent)});
        if (model != nullptr) rows.back().push_back(model->cells.at(i));
    }
    if (rows.size() == 1) return "";
    return text::aligned(rows, model != nullptr ? 1 : 0, TableOptions{}.on_stdout()) + "\n" +
           lesson::judgement(questionnaire, prediction) + "\n";
}

}  // namespace syncline::cli
