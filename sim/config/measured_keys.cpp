#include "sim/config/measured_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/config/scenario.hpp"
#include "sim/document/key_path.hpp"

namespace syncline::config {

namespace {

constexpr double smallest_measured = 1e-30, largest_measured = 1e20;
constexpr double least_range = 1.02;  // least_squares.hpp takes differences of 1 % on each side
constexpr const char* field_doc =
    "Number of the variant's result, named as in JSON: throughput_samples_per_s, completion_time_s.";

void describe(Fields& fields, MeasuredRow& row) {
    fields.text({"name", "Name of the row, after that of its series. Default: the values of the series' keys."},
                row.name);
    fields.texts(
        {"at", "Values of the series' keys `over`, in the same order. `\"~\"` leaves a key as the scenario has it."},
        row.settings);
    fields.text({"sweep", "Name that the layouts of the same training share, of which the fastest would be chosen."},
                row.sweep);
    fields.number({"value", "Measured value.", true}, row.value, 0, largest_measured);
    fields.flag({"calibrates", "Calibration row: parameters are estimated from it, and it is not predicted."},
                row.calibrates);
    if (!fields.sound()) return;
    if (row.value == 0) fields.reject("value", "'value' is zero", "errors are relative to it");
    if (row.value > 0 && row.value < smallest_measured) fields.reject("value", "'value' is below 1e-30", "");
}

/// Describes the keys that a series may have, and that give the default for all series.
void describe_field(Fields& fields, MeasuredSeries& series) {
    fields.text({"field", field_doc}, series.field);
    fields.text({"unit", "Unit of the values, of time or bandwidth. Default: the field's own."}, series.unit_name);
}

void describe(Fields& fields, Measurements& all, const MeasuredSeries& common) {
    MeasuredSeries series = common;
    fields.text({"variant", "Name of the variant; omitted if the file has no variants."}, series.variant);
    series.name = series.variant;
    fields.text({"name", "Name of the series. Default: the variant's name."}, series.name);
    describe_field(fields, series);
    fields.texts({"over", "Keys by which the rows differ: training.ranks."}, series.over);
    for (std::string& key : series.over) key = plain_path(key);
    // The changes are read when they are applied.
    fields.section({"set", "Changes to the variant for all rows."}, [](Fields&) {});
    fields.text({"doubt", "Reason why these rows are unreliable, if they are; they are shown and counted separately."},
                series.doubt);
    const std::size_t number = all.series.size();
    fields.each({"rows", "Measurements of the series.", true}, [&](Fields& item) {
        MeasuredRow& row = all.rows.emplace_back();
        describe(item, row);
        row.series = number;
    });
    all.series.push_back(std::move(series));
}

void describe(Fields& fields, MeasuredParameter& parameter, std::vector<std::string>& rows,
              std::vector<std::string>& series) {
    fields.text({.name = "key", .doc = "Path of the parameter's key, as in `--set`.", .unless = "factor_of"},
                parameter.key);
    fields.texts({"factor_of", "Paths of keys; the parameter is a factor by which their own values are multiplied."},
                 parameter.keys);
    parameter.factor = !parameter.keys.empty();
    if (!parameter.factor) parameter.keys = {parameter.key};
    for (std::string& key : parameter.keys) key = plain_path(key);
    parameter.key = parameter.factor ? fmt::format("factor of {}", fmt::join(parameter.keys, ", ")) : parameter.keys[0];
    fields.texts({"series", "Names of the series to whose rows the parameter applies. Default: all series."}, series);
    fields.text({"unit", "Unit of the values that are tried: GBps, us."}, parameter.unit);
    fields.number({"least", "Minimum value, in this unit.", true}, parameter.least, 0, largest_measured);
    fields.number({"most", "Maximum value, in this unit.", true}, parameter.most, 0, largest_measured);
    fields.texts(
        {"rows",
         "Calibration rows from which the parameter is estimated. Default: all calibration rows of its series."},
        rows);
    if (!fields.sound()) return;
    if (parameter.factor && fields.given("key"))
        fields.reject("factor_of", "'key' and 'factor_of' exclude each other", "remove one of the two");
    if (parameter.factor && fields.given("unit")) fields.reject("unit", "a factor has no unit", "remove 'unit'");
    if (parameter.least == 0)
        fields.reject("least", "'least' is zero", "values are varied by factors, so the minimum must be above zero");
    if (parameter.most <= parameter.least)
        fields.reject("most", "'most' is not above 'least'", "");
    else if (parameter.most < least_range * parameter.least)
        fields.reject("most", "'most' is less than 2 % above 'least'", "widen the range");
}

}  // namespace

void describe(Fields& fields, MeasuredKeys& keys) {
    Measurements& all = keys.measurements;
    fields.text({"source", "Source of the measurements: who measured, and where it is published.", true}, all.source);
    bool percent = false;
    fields.number_or_percent({"noise", "Spread that the source states: `5 %`."}, all.noise, percent, 0, 100);
    if (percent) all.noise /= 100;
    MeasuredSeries common;
    common.field = "throughput_samples_per_s";
    describe_field(fields, common);
    fields.each({.name = "series", .doc = "Series of measurements that differ by a few keys.", .unless = "table"},
                [&](Fields& item) { describe(item, all, common); });
    // Before this table is read, measured_texts.hpp replaces it by series.
    fields.section({"table", "CSV file with further series."}, [](Fields& inner) {
        MeasuredTable table;
        describe(inner, table);
    });
    fields.each(
        {"parameters", "Unknown parameters of the cluster, estimated in this order, each from its calibration rows."},
        [&](Fields& item) {
            describe(item, all.parameters.emplace_back(), keys.parameter_rows.emplace_back(),
                     keys.parameter_series.emplace_back());
        });
    fields.each(
        {"assumptions",
         "Other plausible values of what the source leaves open. `syncline validate --assumptions` predicts the "
         "rows with each of them, too, and estimates the parameters again."},
        [&](Fields& item) {
            describe(item, all.assumptions.emplace_back());
            item.texts({"series", "Names of the series whose rows it changes. Default: all series."},
                       keys.assumption_series.emplace_back());
        });
}

void describe(Fields& fields, MeasuredTable& table) {
    fields.text(
        {"file", "Name of the CSV file, relative to this file. Its first line has the names of the columns.", true},
        table.file);
    fields.each({"columns", "Columns that give keys' values; other columns are ignored."}, [&](Fields& inner) {
        MeasuredColumn& column = table.columns.emplace_back();
        inner.text({"column", "Name of the column.", true}, column.column);
        inner.text({"key", "Path of the key: training.ranks.", true}, column.key);
        column.key = plain_path(column.key);
        inner.text({"unit", "Unit of the column's numbers: KiB. Without it, numbers have units of their own, or none."},
                   column.unit);
        // The words are read when the file is.
        inner.section({"words", "Values of the key by the column's texts: `{selective (attention core): selective}`."},
                      [](Fields&) {});
    });
    fields.text({"value", "Name of the column with the measured values.", true}, table.value);
    fields.text({"unit", "Unit of the values: ms, GBps, images/s; `none` for numbers without a unit.", true},
                table.unit);
    fields.text({"field", "Number of the variant's result. Default: the `field` of `measured`."}, table.field);
    fields.text({"name", "Name of the series. Default: the variant's name."}, table.name);
    fields.text({"variant", "Name of the column with the variants; each is a series of its own."}, table.variant);
    fields.text({"row", "Name of the column with the rows' names. Default: the values of their keys."}, table.row);
    fields.text({"sweep", "Name of the column whose text the layouts of the same training share."}, table.sweep);
    fields.text({"calibrates", "Name of the column that tells calibration rows. Default: no row calibrates."},
                table.calibrates);
    fields.text({"calibrates_if", "Text of this column in calibration rows."}, table.calibrates_if);
    fields.section({"set", "Changes to the variants for all rows."}, [](Fields&) {});
    fields.each({"leave_out", "Rows that are not to be predicted; they are counted."}, [&](Fields& inner) {
        MeasuredExclusion& one = table.leave_out.emplace_back();
        inner.text({"column", "Name of the column.", true}, one.column);
        inner.text({"text", "Text of the column in rows that are left out. Default: any text but none."}, one.text);
    });
    if (fields.sound() && fields.given("calibrates_if") && !fields.given("calibrates"))
        fields.reject("calibrates_if", "'calibrates_if' has no effect without 'calibrates'",
                      "name the column that has this text: `calibrates: split`");
    if (fields.sound() && fields.given("name") && fields.given("variant"))
        fields.reject("name", "'name' has no effect: series have the names of their variants",
                      "remove it, or 'variant'");
}

void describe(Fields& fields, MeasuredFile&) {
    Scenario scenario;
    describe(fields, scenario);
    fields.section(
        {"measured", "Published measurements of this scenario; `syncline validate` compares predictions with them.",
         true},
        [](Fields& inner) {
            MeasuredKeys keys;
            describe(inner, keys);
        });
}

bool MeasuredParameter::applies_to(std::size_t number) const {
    return series.empty() || std::find(series.begin(), series.end(), number) != series.end();
}

std::string MeasuredParameter::text(double value) const {
    return unit.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
}

}  // namespace syncline::config
