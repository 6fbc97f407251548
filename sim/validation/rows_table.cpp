#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/output/cells.hpp"
#include "sim/validation/ablation.hpp"
#include "sim/validation/tables.hpp"

// The table of measured and predicted rows.

namespace syncline::validation {

namespace {

std::string mark(const Validation& one, std::size_t row) {
    std::vector<std::string> marks;
    if (one.measurements.rows[row].calibrates) marks.emplace_back("calibration");
    if (one.doubtful(row)) marks.emplace_back("unreliable");
    if (one.lacks_memory(row)) marks.emplace_back("does not fit into memory");
    if (one.failed(row)) marks.emplace_back("failed");
    return fmt::format("{}", fmt::join(marks, ", "));
}

}  // namespace

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

std::string accuracy_text(const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : "-";
}

bool repeated(const Validation& one) {
    return std::any_of(one.spreads.begin(), one.spreads.end(), [](const auto& spread) { return spread.has_value(); });
}

std::string rows_table(const Validation& one, const text::TableLayout& layout) {
    std::vector<text::Row> table{{"row", "measured", "predicted", "error", "accuracy", ""}};
    const bool seeds = repeated(one), assumed = !one.assumptions.empty();
    const bool uncalibrated = !one.uncalibrated.empty();
    if (uncalibrated) table.front().insert(table.front().begin() + 5, "uncalibrated");
    if (assumed) table.front().insert(table.front().begin() + 3, {"lowest", "highest"});
    if (seeds) table.front().insert(table.front().begin() + 3, {"median", "5 %", "95 %"});
    for (std::size_t row = 0; row < one.measurements.rows.size(); ++row) {
        const config::MeasuredRow& measured = one.measurements.rows[row];
        const config::MeasuredSeries& series = one.measurements.series[measured.series];
        if (one.failed(row))
            table.push_back({measured.name, in_unit(measured.value, series), "-", "-", "-", mark(one, row)});
        else
            table.push_back({measured.name, in_unit(measured.value, series),
                             in_unit(one.calibration.predicted[row], series), signed_percent(one.error(row)),
                             measured.calibrates ? "-" : accuracy_text(one.accuracy(row)), mark(one, row)});
        if (uncalibrated) {
            const std::optional<double> error = one.uncalibrated_error(row);
            table.back().insert(table.back().begin() + 5, error ? signed_percent(*error) : "-");
        }
        if (assumed && one.failed(row)) {
            table.back().insert(table.back().begin() + 3, {"-", "-"});
        } else if (assumed) {
            const Between all = between(one, row);
            table.back().insert(table.back().begin() + 3, {in_unit(all.lowest, series), in_unit(all.highest, series)});
        }
        if (!seeds) continue;
        text::Row& line = table.back();
        const Spread* const spread = one.spread(row);
        const auto cell = [&](double Spread::*number) { return spread ? in_unit(spread->*number, series) : "-"; };
        line.insert(line.begin() + 3, {cell(&Spread::median), cell(&Spread::p05), cell(&Spread::p95)});
    }
    std::string text = text::aligned(table, 1, layout);
    for (std::size_t i = 0; i < one.measurements.series.size(); ++i) {
        const config::MeasuredSeries& series = one.measurements.series[i];
        if (!series.doubt.empty() && one.has_rows(i))
            text += fmt::format("unreliable: {}: {}\n", series.name, series.doubt);
    }
    for (const std::string& failure : one.failures()) text += fmt::format("failed: {}\n", failure);
    for (const config::RowsLeftOut& left : one.measurements.left_out)
        text += fmt::format("left out of the table: {} ({})\n", left.rows, left.reason);
    return text;
}

}  // namespace syncline::validation
