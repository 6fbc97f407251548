#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/output/cells.hpp"
#include "sim/validation/tables.hpp"

// The tables of the parameters, with all calibration rows and without each of them.

namespace syncline::validation {

namespace {

std::string bound(Ending ending) {
    return ending == Ending::at_least ? " (minimum)" : ending == Ending::at_most ? " (maximum)" : "";
}

/// Returns a remark on how well a value is determined.
std::string remark(const Validation& one, const Solution& solution) {
    switch (solution.ending) {
        case Ending::found:
            if (!one.hardly_determined(solution)) return "";
            return fmt::format("poorly determined: an error of {:g} % in the rows changes it by {:.3g} %",
                               one.noise_percent(), *solution.percent_per_percent * one.noise_percent());
        case Ending::at_least:
            return "at its minimum: the rows suggest a smaller value";
        case Ending::at_most:
            return "at its maximum: the rows suggest a larger value";
        case Ending::plateau:
            return "values near it fit equally well";
        case Ending::no_effect:
            return "not determined: the rows do not depend on it";
        case Ending::too_few:
            return "not determined: fewer rows than parameters";
        case Ending::not_told_apart:
            break;
    }
    std::vector<std::string> others;
    for (const std::size_t other : solution.others) others.push_back(one.parameter_key(other));
    return fmt::format("not determined: the rows cannot distinguish it from {}", fmt::join(others, ", "));
}

}  // namespace

std::string value_of(const config::MeasuredParameter& parameter, const std::optional<double>& value) {
    if (!value) return "unchanged";
    const std::string number = fmt::format("{:.5g}", *value);
    return parameter.unit.empty() ? number : number + " " + parameter.unit;
}

std::string parameters_table(const Validation& one, const text::TableLayout& layout) {
    std::vector<text::Row> table{{"parameter", "value", "sensitivity", "standard error", "estimated from", ""}};
    for (std::size_t i = 0; i < one.measurements.parameters.size(); ++i) {
        const config::MeasuredParameter& parameter = one.measurements.parameters[i];
        const Solution& solution = one.calibration.parameters[i];
        std::vector<std::string> rows;
        for (const std::size_t row : parameter.rows) rows.push_back(one.measurements.rows[row].name);
        table.push_back(
            {parameter.key, value_of(parameter, solution.value),
             solution.percent_per_percent ? fmt::format("{:.3g} %", *solution.percent_per_percent) : "-",
             solution.relative_standard_error ? fmt::format("{:.2g} %", 100 * *solution.relative_standard_error) : "-",
             fmt::format("{}", fmt::join(rows, ", ")), remark(one, solution)});
    }
    return text::aligned(table, 2, layout) + (one.calibration.converged ? "" : "stopped before convergence\n");
}

std::string left_out_table(const Validation& one, const text::TableLayout& layout) {
    std::vector<text::Row> table{{"row left out", "median change", "largest change", "in row", "changed parameters"}};
    for (const LeftOut& left : one.leave_one_out) {
        const bool any = left.median_change.has_value();
        text::Row line{one.measurements.rows[left.row].name, any ? percent(*left.median_change) : "-",
                       any ? percent(*left.largest_change) : "-",
                       any ? one.measurements.rows[left.largest_change_row].name : "-"};
        std::vector<std::string> others;
        for (std::size_t i = 0; i < left.parameters.size(); ++i) {
            const config::MeasuredParameter& parameter = one.measurements.parameters[i];
            const std::string value = value_of(parameter, left.parameters[i].value) + bound(left.parameters[i].ending);
            const Solution& with = one.calibration.parameters[i];
            if (value != value_of(parameter, with.value) + bound(with.ending))
                others.push_back(parameter.key + " " + value);
        }
        line.push_back(fmt::format("{}", fmt::join(others, ", ")));
        table.push_back(std::move(line));
    }
    std::string text = text::aligned(table, 0, layout);
    const bool kept = std::any_of(one.leave_one_out.begin(), one.leave_one_out.end(), [](const LeftOut& left) {
        return std::any_of(left.parameters.begin(), left.parameters.end(),
                           [](const Solution& solution) { return solution.ending == Ending::too_few; });
    });
    if (kept) text += "unchanged: too few rows remain to estimate it, so the scenario's own value stays\n";
    return text;
}

}  // namespace syncline::validation
