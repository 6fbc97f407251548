#include "sim/validation/validation_json.hpp"

#include "sim/base/version.hpp"
#include "sim/output/json_text.hpp"
#include "sim/validation/ablation.hpp"
#include "sim/validation/ranking.hpp"
#include "sim/validation/validation_text.hpp"

namespace syncline::validation {

namespace {

Json object(const Sweep& sweep) {
    return {{"name", sweep.name},
            {"rows", sweep.rows},
            {"rank_correlation", sweep.rank_correlation},
            {"repeated_correlation", number_or_null(sweep.repeated_correlation)},
            {"pairs", sweep.pairs},
            {"pairs_in_order", sweep.pairs_in_order},
            {"regret", sweep.regret}};
}

Json object(const Scaling& scaling) {
    return {{"series", scaling.name}, {"rows", scaling.rows}, {"ratio_error", scaling.ratio_error}};
}

Json object(const Validation& one, std::size_t number, const Solution& solution) {
    const config::MeasuredParameter& parameter = one.measurements.parameters[number];
    Json rows = Json::array(), others = Json::array();
    for (const std::size_t row : parameter.rows) rows.push_back(one.measurements.rows[row].name);
    for (const std::size_t other : solution.others) others.push_back(one.parameter_key(other));
    Json json{{"key", parameter.key},
              {"value", number_or_null(solution.value)},
              {"unit", text_or_null(parameter.unit)},
              {"found", solution.value.has_value()},
              {"ending", word(solution.ending)},
              {"at_bound", solution.ending == Ending::at_least || solution.ending == Ending::at_most},
              {"not_told_from", std::move(others)},
              {"percent_per_percent", number_or_null(solution.percent_per_percent)},
              {"hardly_determined", one.hardly_determined(solution)},
              {"relative_standard_error", number_or_null(solution.relative_standard_error)},
              {"least", parameter.least},
              {"most", parameter.most},
              {"rows", std::move(rows)}};
    if (parameter.factor) json["factor_of"] = parameter.keys;
    for (const std::size_t series : parameter.series) json["series"].push_back(one.measurements.series[series].name);
    return json;
}

}  // namespace

Json figures_object(const AccuracyFigures& figures) {
    return {{"rows", figures.rows},
            {"median_accuracy", number_or_null(figures.median_accuracy)},
            {"worst_accuracy", number_or_null(figures.worst_accuracy)},
            {"share_above_085", number_or_null(figures.share_above_085)},
            {"median_error", number_or_null(figures.median_error)},
            {"mean_error", number_or_null(figures.mean_error)},
            {"bias", number_or_null(figures.bias)},
            {"worst_row", text_or_null(figures.worst_row)},
            {"with_noise", figures.with_noise},
            {"below_noise", figures.within_noise}};
}

Json solutions_object(const Validation& one, const std::vector<Solution>& parameters) {
    Json all = Json::array();
    for (std::size_t i = 0; i < parameters.size(); ++i) all.push_back(object(one, i, parameters[i]));
    return all;
}

Json sample_object(const Sample& sample) {
    return {{"rows", sample.rows}, {"of", sample.of}, {"seed", sample.seed}};
}

namespace {

Json object(const Validation& one, std::size_t number) {
    const config::MeasuredRow& row = one.measurements.rows[number];
    const config::MeasuredSeries& series = one.measurements.series[row.series];
    Json settings = Json::object();
    for (std::size_t i = 0; i < series.over.size(); ++i)
        if (row.settings[i] != config::kept_key) settings[series.over[i]] = row.settings[i];
    const auto value = [&](double known) { return one.failed(number) ? Json(nullptr) : Json(known); };
    Json json{{"name", row.name},
              {"series", series.name},
              {"variant", series.variant},
              {"settings", std::move(settings)},
              {"field", series.field},
              {"measured", row.value},
              {"predicted", value(one.calibration.predicted[number])},
              {"error", value(one.error(number))},
              {"accuracy", value(one.accuracy(number))},
              {"role", row.calibrates ? "calibrates" : "predicted"},
              {"doubt", text_or_null(series.doubt)}};
    if (!one.uncalibrated.empty()) {
        const std::optional<double> own = one.uncalibrated_error(number);
        json.update({{"uncalibrated", own ? Json(one.uncalibrated[number]) : Json(nullptr)},
                     {"uncalibrated_error", number_or_null(own)}});
    }
    if (const Spread* const spread = one.spread(number))
        json.update({{"repeats", spread->count},
                     {"predicted_median", spread->median},
                     {"predicted_p05", spread->p05},
                     {"predicted_p95", spread->p95}});
    if (!one.assumptions.empty()) {
        const Between all = between(one, number);
        json.update({{"predicted_lowest", value(all.lowest)}, {"predicted_highest", value(all.highest)}});
    }
    if (!one.calibration.causes.empty() && !one.failed(number)) {
        const Cause& cause = one.calibration.causes[number];
        json.update({{"limited_by", text_or_null(cause.limited_by)}, {"exposed_share", number_or_null(cause.exposed)}});
    }
    if (one.failed(number)) json["failure"] = one.calibration.failures[number];
    if (!one.short_of_memory.empty()) json["fits_memory"] = !one.lacks_memory(number);
    return json;
}

void add_uncalibrated(Json& json, const std::vector<Validation>& points) {
    if (const AccuracyFigures own = uncalibrated_figures(points); own.rows > 0)
        json["uncalibrated"] = figures_object(own);
}

Json object(const Validation& one, const LeftOut& left) {
    const auto& rows = one.measurements.rows;
    return {{"row", rows[left.row].name},
            {"parameters", solutions_object(one, left.parameters)},
            {"median_change", number_or_null(left.median_change)},
            {"largest_change", number_or_null(left.largest_change)},
            {"largest_change_row", left.largest_change ? Json(rows[left.largest_change_row].name) : Json(nullptr)}};
}

Json object(const Validation& one) {
    Json rows = Json::array(), left_out = Json::array();
    for (std::size_t row = 0; row < one.measurements.rows.size(); ++row) rows.push_back(object(one, row));
    for (const LeftOut& left : one.leave_one_out) left_out.push_back(object(one, left));
    const double noise = one.measurements.noise;
    Json json{{"name", one.name},
              {"source", one.measurements.source},
              {"noise", noise > 0 ? Json(noise) : Json(nullptr)},
              {"converged", one.calibration.converged},
              {"parameters", solutions_object(one, one.calibration.parameters)},
              {"rows", std::move(rows)},
              {"leave_one_out", std::move(left_out)}};
    if (!one.incomplete.empty()) json["incomplete"] = one.incomplete;
    for (const config::RowsLeftOut& left : one.measurements.left_out)
        json["left_out"].push_back({{"reason", left.reason}, {"rows", left.rows}});
    const AccuracyFigures all = figures({one}, true);
    Json figures = figures_object(all);
    figures.erase("rows");
    json.update(figures);
    add_uncalibrated(json, {one});
    if (!one.assumptions.empty()) json["assumptions"] = assumptions_object(one);
    for (const Sweep& sweep : sweeps(one)) json["sweeps"].push_back(object(sweep));
    for (const Scaling& scaling : scalings(one)) json["scaling"].push_back(object(scaling));
    return json;
}

}  // namespace

std::string to_json(const Points& points) {
    Json list = Json::array();
    for (const Validation& one : points.points) list.push_back(object(one));
    const AccuracyFigures all = figures(points.points, true);
    Json reliable = figures_object(figures(points.points, false));
    Json json{{"schema_version", result_schema_version},
              {"syncline", version},
              {"without_doubtful", std::move(reliable)},
              {"points", std::move(list)}};
    json.update(figures_object(all));
    add_uncalibrated(json, points.points);
    if (!points.failed.empty()) json["failed"] = points.failed;
    if (points.sample) json["sample"] = sample_object(*points.sample);
    if (!points.points.empty() && !points.points.front().mechanisms.empty())
        json["mechanisms"] = mechanisms_object(points.points);
    return dumped(json);
}

std::string to_json(const Fitted& fitted) {
    Json json{{"schema_version", result_schema_version}, {"syncline", version}};
    json.update(object(fitted.validation));
    for (const char* key : {"leave_one_out", "median_accuracy", "worst_accuracy", "share_above_085", "median_error",
                            "mean_error", "bias", "worst_row", "with_noise", "below_noise", "sweeps", "scaling"})
        json.erase(key);
    json["set"] = assignments(fitted.validation.measurements, fitted.validation.calibration.values());
    return dumped(json);
}

}  // namespace syncline::validation
