#include <fmt/format.h>

#include <algorithm>

#include "sim/output/cells.hpp"
#include "sim/validation/ablation.hpp"
#include "sim/validation/tables.hpp"
#include "sim/validation/validation_text.hpp"

namespace syncline::validation {

using text::Row;

std::string settings_of(const config::Measurements& all, std::size_t row) {
    const config::MeasuredSeries& series = all.series[all.rows[row].series];
    std::vector<std::string> settings;
    for (std::size_t i = 0; i < series.over.size(); ++i)
        if (all.rows[row].settings[i] != config::kept_key)
            settings.push_back(series.over[i] + "=" + all.rows[row].settings[i]);
    return fmt::format("{}", fmt::join(settings, "; "));
}

std::string to_csv(const Points& points) {
    const auto any = [&](const auto& condition) {
        return std::any_of(points.points.begin(), points.points.end(), condition);
    };
    const bool seeds = any(repeated);
    const bool memory = any([](const Validation& one) { return !one.short_of_memory.empty(); });
    Row head{"point",     "row",   "series",   "variant", "field", "measured",
             "predicted", "error", "accuracy", "role",    "doubt", "settings"};
    const bool uncalibrated = any([](const Validation& one) { return !one.uncalibrated.empty(); });
    if (seeds) head.insert(head.end(), {"repeats", "predicted_median", "predicted_p05", "predicted_p95"});
    const bool assumed = any([](const Validation& one) { return !one.assumptions.empty(); });
    if (assumed) head.insert(head.end(), {"predicted_lowest", "predicted_highest"});
    if (memory) head.emplace_back("fits_memory");
    const bool failed = any([](const Validation& one) {
        return std::any_of(one.calibration.failures.begin(), one.calibration.failures.end(),
                           [](const std::string& failure) { return !failure.empty(); });
    });
    if (failed) head.emplace_back("failure");
    if (uncalibrated) head.insert(head.end(), {"uncalibrated", "uncalibrated_error"});
    std::string text = text::line(head);
    for (const Validation& one : points.points) {
        const auto number = [&](std::size_t row, double value) { return one.failed(row) ? "" : text::field(value); };
        for (std::size_t row = 0; row < one.measurements.rows.size(); ++row) {
            const config::MeasuredRow& measured = one.measurements.rows[row];
            const config::MeasuredSeries& series = one.measurements.series[measured.series];
            Row line{text::quoted(one.name),
                     text::quoted(measured.name),
                     text::quoted(series.name),
                     text::quoted(series.variant),
                     text::quoted(series.field),
                     text::field(measured.value),
                     number(row, one.calibration.predicted[row]),
                     number(row, one.error(row)),
                     number(row, one.accuracy(row)),
                     measured.calibrates ? "calibrates" : "predicted",
                     text::quoted(series.doubt),
                     text::quoted(settings_of(one.measurements, row))};
            if (const Spread* const spread = one.spread(row))
                line.insert(line.end(), {fmt::format("{}", spread->count), text::field(spread->median),
                                         text::field(spread->p05), text::field(spread->p95)});
            else if (seeds)
                line.insert(line.end(), 4, "");
            if (assumed) {
                const Between all = between(one, row);
                line.insert(line.end(), {number(row, all.lowest), number(row, all.highest)});
            }
            if (memory) line.emplace_back(one.lacks_memory(row) ? "false" : "true");
            if (failed) line.emplace_back(text::quoted(one.calibration.failures[row]));
            if (const std::optional<double> own = one.uncalibrated_error(row))
                line.insert(line.end(), {text::field(one.uncalibrated[row]), text::field(*own)});
            else if (uncalibrated)
                line.insert(line.end(), 2, "");
            text += text::line(line);
        }
    }
    return text;
}

}  // namespace syncline::validation
