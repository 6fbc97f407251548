#include "sim/validation/show.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/output/text.hpp"
#include "sim/validation/ranking.hpp"

// Text tables and CSV.

namespace syncline::validation {

namespace {

using text::Row;

std::string percent(double part) {
    return fmt::format("{:.2f} %", 100 * part);
}

/// Formats a percentage with its sign, without a minus if it rounds to zero.
std::string signed_percent(double part) {
    const std::string text = fmt::format("{:+.2f} %", 100 * part);
    return text == "-0.00 %" ? "+0.00 %" : text;
}

std::string in_unit(double value, const config::MeasuredSeries& series) {
    const std::string number = fmt::format("{:.5g}", value / series.unit);
    return series.unit_name.empty() ? number : number + " " + series.unit_name;
}

std::string accuracy(const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : "-";
}

std::string mark(const Validation& one, std::size_t row) {
    std::vector<std::string> marks;
    if (one.measurements.rows[row].calibrates) marks.emplace_back("calibration");
    if (one.doubtful(row)) marks.emplace_back("unreliable");
    if (one.lacks_memory(row)) marks.emplace_back("does not fit into memory");
    return fmt::format("{}", fmt::join(marks, ", "));
}

bool repeated(const Validation& one) {
    return std::any_of(one.spreads.begin(), one.spreads.end(), [](const auto& spread) { return spread.has_value(); });
}

std::string rows_of(const Validation& one, const text::TableLayout& layout) {
    std::vector<Row> table{{"row", "measured", "predicted", "error", "accuracy", ""}};
    const bool seeds = repeated(one);
    if (seeds) table.front().insert(table.front().begin() + 3, {"median", "5 %", "95 %"});
    for (std::size_t row = 0; row < one.measurements.rows.size(); ++row) {
        const config::MeasuredRow& measured = one.measurements.rows[row];
        const config::MeasuredSeries& series = one.measurements.series[measured.series];
        table.push_back({measured.name, in_unit(measured.value, series),
                         in_unit(one.calibration.predicted[row], series), signed_percent(one.error(row)),
                         measured.calibrates ? "-" : accuracy(one.accuracy(row)), mark(one, row)});
        if (!seeds) continue;
        Row& line = table.back();
        const Spread* const spread = one.spread(row);
        const auto cell = [&](double Spread::*number) { return spread ? in_unit(spread->*number, series) : "-"; };
        line.insert(line.begin() + 3, {cell(&Spread::median), cell(&Spread::p05), cell(&Spread::p95)});
    }
    std::string text = text::aligned(table, 1, layout);
    for (const config::MeasuredSeries& series : one.measurements.series)
        if (!series.doubt.empty()) text += fmt::format("unreliable: {}: {}\n", series.name, series.doubt);
    for (const config::RowsLeftOut& left : one.measurements.left_out)
        text += fmt::format("left out of the table: {} ({})\n", left.rows, left.reason);
    return text;
}

std::string value_of(const config::MeasuredParameter& parameter, const std::optional<double>& value) {
    if (!value) return "unchanged";
    const std::string number = fmt::format("{:.5g}", *value);
    return parameter.unit.empty() ? number : number + " " + parameter.unit;
}

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

std::string parameters_of(const Validation& one, const text::TableLayout& layout) {
    std::vector<Row> table{{"parameter", "value", "sensitivity", "standard error", "estimated from", ""}};
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

std::string left_out_of(const Validation& one, const text::TableLayout& layout) {
    std::vector<Row> table{{"row left out", "median change", "largest change", "in row", "changed parameters"}};
    for (const LeftOut& left : one.leave_one_out) {
        const bool any = left.median_change.has_value();
        Row line{one.measurements.rows[left.row].name, any ? percent(*left.median_change) : "-",
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

std::string head_of(const Validation& one) {
    const config::Measurements& all = one.measurements;
    const std::string spread = all.noise > 0 ? fmt::format(" (spread {:g} %)", 100 * all.noise) : "";
    return fmt::format("{}: {}{}\n\n", one.name, all.source, spread);
}

std::string line_of(const std::string& name, const AccuracyFigures& figures) {
    constexpr double all = 100;
    if (figures.rows == 0) return fmt::format("{}: no row is predicted\n", name);
    return fmt::format(
        "{}: {} predicted, accuracy: median {:.3f}, worst {:.3f}, above 0.85: {:.1f} %\n"
        "  error: median {:.1f} %, mean {:.1f} %, bias {:+.1f} %, worst row '{}', below the source's spread: {}\n",
        name, figures.rows, *figures.median_accuracy, *figures.worst_accuracy, all * *figures.share_above_085,
        all * *figures.median_error, all * *figures.mean_error, all * *figures.bias, figures.worst_row,
        figures.within_noise);
}

/// Returns what is predicted of the order of layouts, and of scaling.
std::string order_of(const Validation& one) {
    constexpr double all = 100;
    std::string text;
    for (const Sweep& sweep : sweeps(one))
        text +=
            fmt::format("  layouts of {}: {} rows, rank correlation {:.3f}, lost with the predicted best {:.1f} %\n",
                        sweep.name, sweep.rows, sweep.rank_correlation, all * sweep.regret);
    for (const Scaling& scaling : scalings(one))
        text += fmt::format("  scaling of {}: {} rows, ratio of the largest to the smallest {:+.1f} %\n", scaling.name,
                            scaling.rows, all * scaling.ratio_error);
    return text;
}

bool any_doubt(const Points& points) {
    return std::any_of(points.points.begin(), points.points.end(), [](const Validation& one) {
        return std::any_of(one.measurements.series.begin(), one.measurements.series.end(),
                           [](const config::MeasuredSeries& series) { return !series.doubt.empty(); });
    });
}

}  // namespace

std::string settings_of(const config::Measurements& all, std::size_t row) {
    const config::MeasuredSeries& series = all.series[all.rows[row].series];
    std::vector<std::string> settings;
    for (std::size_t i = 0; i < series.over.size(); ++i)
        settings.push_back(series.over[i] + "=" + all.rows[row].settings[i]);
    return fmt::format("{}", fmt::join(settings, "; "));
}

std::string word(Ending ending) {
    switch (ending) {
        case Ending::found:
            return "found";
        case Ending::at_least:
            return "at-least";
        case Ending::at_most:
            return "at-most";
        case Ending::plateau:
            return "plateau";
        case Ending::no_effect:
            return "no-effect";
        case Ending::not_told_apart:
            return "not-told-apart";
        case Ending::too_few:
            return "too-few-rows";
    }
    return "";
}

std::vector<std::string> assignments(const Validation& validation, const std::vector<Solution>& parameters) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const config::MeasuredParameter& parameter = validation.measurements.parameters[i];
        // A factor of a row's own values is no assignment, and a parameter of some series holds for those alone.
        if (parameters[i].value && !parameter.factor && parameter.series.empty())
            all.push_back(fmt::format("{}={}", parameter.key, parameter.text(*parameters[i].value)));
    }
    return all;
}

std::string to_table(const Points& points, const text::TableLayout& layout) {
    std::string text;
    for (const Validation& one : points.points) {
        text += head_of(one) + rows_of(one, layout) + "\n";
        if (!one.measurements.parameters.empty()) text += parameters_of(one, layout) + "\n";
        if (!one.leave_one_out.empty()) text += left_out_of(one, layout) + "\n";
        text += line_of(one.name, figures({one}, true)) + order_of(one) + "\n";
    }
    text += line_of("all", figures(points.points, true));
    if (any_doubt(points)) text += line_of("reliable only", figures(points.points, false));
    return text;
}

std::string to_csv(const Points& points) {
    const auto any = [&](const auto& condition) {
        return std::any_of(points.points.begin(), points.points.end(), condition);
    };
    const bool seeds = any(repeated);
    const bool memory = any([](const Validation& one) { return !one.short_of_memory.empty(); });
    Row head{"point",     "row",   "series",   "variant", "field", "measured",
             "predicted", "error", "accuracy", "role",    "doubt", "settings"};
    if (seeds) head.insert(head.end(), {"repeats", "predicted_median", "predicted_p05", "predicted_p95"});
    if (memory) head.emplace_back("fits_memory");
    std::string text = text::line(head);
    for (const Validation& one : points.points) {
        for (std::size_t row = 0; row < one.measurements.rows.size(); ++row) {
            const config::MeasuredRow& measured = one.measurements.rows[row];
            const config::MeasuredSeries& series = one.measurements.series[measured.series];
            Row line{text::quoted(one.name),
                     text::quoted(measured.name),
                     text::quoted(series.name),
                     text::quoted(series.variant),
                     text::quoted(series.field),
                     text::field(measured.value),
                     text::field(one.calibration.predicted[row]),
                     text::field(one.error(row)),
                     text::field(one.accuracy(row)),
                     measured.calibrates ? "calibrates" : "predicted",
                     text::quoted(series.doubt),
                     text::quoted(settings_of(one.measurements, row))};
            if (const Spread* const spread = one.spread(row))
                line.insert(line.end(), {fmt::format("{}", spread->count), text::field(spread->median),
                                         text::field(spread->p05), text::field(spread->p95)});
            else if (seeds)
                line.insert(line.end(), 4, "");
            if (memory) line.emplace_back(one.lacks_memory(row) ? "false" : "true");
            text += text::line(line);
        }
    }
    return text;
}

std::string to_table(const Fitted& fitted, const text::TableLayout& layout) {
    const Validation& one = fitted.validation;
    std::string text = head_of(one) + parameters_of(one, layout) + "\n" + rows_of(one, layout);
    for (const std::string& assignment : assignments(one, one.calibration.parameters))
        text += fmt::format("{}--set '{}'", text.ends_with('\'') ? " " : "\n", assignment);
    return text.ends_with('\n') ? text : text + "\n";
}

std::string to_csv(const Fitted& fitted) {
    const Validation& one = fitted.validation;
    std::string text = text::line(
        {"key", "value", "unit", "ending", "percent_per_percent", "relative_standard_error", "least", "most"});
    for (std::size_t i = 0; i < one.measurements.parameters.size(); ++i) {
        const config::MeasuredParameter& parameter = one.measurements.parameters[i];
        const Solution& solution = one.calibration.parameters[i];
        text += text::line({text::quoted(parameter.key), text::field(solution.value), text::quoted(parameter.unit),
                            word(solution.ending), text::field(solution.percent_per_percent),
                            text::field(solution.relative_standard_error), text::field(parameter.least),
                            text::field(parameter.most)});
    }
    return text;
}

}  // namespace syncline::validation
