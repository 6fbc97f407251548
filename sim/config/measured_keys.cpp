#include "sim/config/measured_keys.hpp"

#include <algorithm>
#include <utility>

#include "sim/config/key_path.hpp"

namespace syncline::config {

namespace {

constexpr double smallest_measured = 1e-30, largest_measured = 1e20;
constexpr double least_range = 1.02;  // least_squares.hpp takes differences of 1 % to each side
constexpr const char* field_doc =
    "A number of the variant's result, named as in JSON: throughput_samples_per_s, completion_time_s.";

void describe(Fields& fields, MeasuredRow& row) {
    fields.texts({"at", "The values of the series' keys `over`, in their order."}, row.settings);
    fields.number({"value", "What was measured.", true}, row.value, 0, largest_measured);
    fields.flag({"calibrates", "Parameters are found on this row; it is not predicted."}, row.calibrates);
    if (!fields.sound()) return;
    if (row.value == 0) fields.reject("value", "'value' is zero", "errors are parts of it");
    if (row.value > 0 && row.value < smallest_measured) fields.reject("value", "'value' is below 1e-30", "");
}

/// What a series has of its own, and all of them by default.
void describe_field(Fields& fields, MeasuredSeries& series) {
    fields.text({"field", field_doc}, series.field);
    fields.text({"unit", "Of the values, a time's or a bandwidth's; by default the field's own."}, series.unit_name);
}

void describe(Fields& fields, Measurements& all, const MeasuredSeries& common) {
    MeasuredSeries series = common;
    fields.text({"variant", "Which one; left out where the file has no variants."}, series.variant);
    series.name = series.variant;
    fields.text({"name", "Of the series; by default the variant's."}, series.name);
    describe_field(fields, series);
    fields.texts({"over", "The keys by which its rows differ: training.ranks."}, series.over);
    std::transform(series.over.begin(), series.over.end(), series.over.begin(), plain_path);
    // What they hold is read where it is applied.
    fields.section({"set", "Changes to the variant, for all rows."}, [](Fields&) {});
    fields.text({"doubt", "Why these rows are no fair test, if so: they are shown, and counted apart."}, series.doubt);
    const std::size_t number = all.series.size();
    fields.each({"rows", "The measurements.", true}, [&](Fields& item) {
        MeasuredRow& row = all.rows.emplace_back();
        describe(item, row);
        row.series = number;
    });
    all.series.push_back(std::move(series));
}

void describe(Fields& fields, MeasuredParameter& parameter, std::vector<std::string>& rows) {
    fields.text({"key", "A path, as `--set` takes it.", true}, parameter.key);
    parameter.key = plain_path(parameter.key);
    fields.text({"unit", "Of the values that are tried: GBps, us."}, parameter.unit);
    fields.number({"least", "The least value that makes sense, in this unit.", true}, parameter.least, 0,
                  largest_measured);
    fields.number({"most", "The greatest.", true}, parameter.most, 0, largest_measured);
    fields.texts({"rows", "On which it is found, all of which calibrate; by default on all that do."}, rows);
    if (!fields.sound()) return;
    if (parameter.least == 0) fields.reject("least", "'least' is zero", "values are tried by their ratios");
    if (parameter.most <= parameter.least)
        fields.reject("most", "'most' is not above 'least'", "");
    else if (parameter.most < least_range * parameter.least)
        fields.reject("most", "'most' is less than 2 % above 'least'", "there is nothing to be found in between");
}

}  // namespace

void describe(Fields& fields, MeasuredKeys& keys) {
    Measurements& all = keys.measurements;
    fields.text({"source", "Who measured it, and where it is written.", true}, all.source);
    bool percent = false;
    fields.number_or_percent({"noise", "The spread that the source states: `5 %`."}, all.noise, percent, 0, 100);
    if (percent) all.noise /= 100;
    MeasuredSeries common;
    common.field = "throughput_samples_per_s";
    describe_field(fields, common);
    fields.each({"series", "Measurements that differ by a few keys.", true},
                [&](Fields& item) { describe(item, all, common); });
    fields.each(
        {"parameters", "What is not known of the cluster, and on which rows it is found, in this order."},
        [&](Fields& item) { describe(item, all.parameters.emplace_back(), keys.parameter_rows.emplace_back()); });
}

void describe_measured(Fields& fields, MeasuredKeys& keys) {
    fields.section({"measured", "What somebody has measured of this; `syncline validate` compares."},
                   [&](Fields& inner) { describe(inner, keys); });
}

}  // namespace syncline::config
