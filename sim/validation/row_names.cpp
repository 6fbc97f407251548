#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "sim/base/version.hpp"
#include "sim/config/resolved.hpp"
#include "sim/config/scenario.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/json_text.hpp"
#include "sim/output/parallelism_text.hpp"
#include "sim/validation/validation_json.hpp"
#include "sim/validation/validation_text.hpp"

// `validate --list`: the rows and their names.

namespace syncline::validation {

namespace {

std::string role_of(const config::MeasuredRow& row) {
    return row.calibrates ? "calibrates" : "predicted";
}

/// Returns the plan in the words of results (result_fields.cpp).
Json json_of(const RowTraining& training) {
    const Parallelism& parallelism = training.parallelism;
    const Pipeline& pipeline = parallelism.pipeline;
    const Layout& layout = parallelism.layout;
    return {{"device", training.device},
            {"workload", training.model},
            {"ranks", training.ranks},
            {"batch", training.batch},
            {"parameters", training.parameters},
            {"experts", training.experts},
            {"parallelism",
             {{"rows", layout.rows},
              {"columns", columns(parallelism, layout, training.ranks)},
              {"context", layout.context},
              {"stages", pipeline.stages},
              {"micro_batches", pipeline.micro_batches},
              {"schedule", text_or_null(schedule_of(parallelism))},
              {"chunks", pipeline.virtual_stages},
              {"experts", parallelism.experts.ranks},
              {"expert_model", parallelism.experts.rows_of(layout.rows)},
              {"sequence", parallelism.sequence},
              {"sharding", name_of(parallelism.sharding)}}}};
}

}  // namespace

std::optional<RowTraining> training_of(const config::MeasuredScenario& scenario, const config::MeasuredRow& row) {
    const std::vector<std::optional<double>> own(scenario.measurements().parameters.size());
    const config::Variant variant = config::load_resolved(scenario.resolved(row, own).text(), row.name, {});
    if (!variant.is_training() || variant.open.everything) return std::nullopt;
    RowTraining training{variant.cluster.device.name, variant.model.name,         variant.plan.ranks,
                         variant.plan.global_batch(), variant.model.parameters(), 0,
                         variant.plan.parallelism};
    for (const Layer& layer : variant.model.layers)
        if (const auto* experts = std::get_if<Experts>(&layer.shape))
            training.experts = std::max(training.experts, experts->experts);
    return training;
}

std::string to_table(const RowNames& names, const text::TableLayout& layout) {
    std::string text;
    for (const RowNames::Point& point : names.points) {
        std::vector<text::Row> table{{"row", "role", "series", "variant", "field", "settings"}};
        for (std::size_t i = 0; i < point.measurements.rows.size(); ++i) {
            const config::MeasuredRow& row = point.measurements.rows[i];
            const config::MeasuredSeries& series = point.measurements.series[row.series];
            table.push_back({row.name, role_of(row) + (series.doubt.empty() ? "" : ", unreliable"), series.name,
                             series.variant, series.field, settings_of(point.measurements, i)});
        }
        text += fmt::format("{}{}: {}\n\n", text.empty() ? "" : "\n", point.name, point.measurements.source);
        text += text::aligned(table, 6, layout);
    }
    if (names.sample) text += "\n" + sentence(*names.sample);
    return text;
}

std::string to_json(const RowNames& names) {
    Json points = Json::array();
    for (const RowNames::Point& point : names.points) {
        Json rows = Json::array();
        for (std::size_t number = 0; number < point.measurements.rows.size(); ++number) {
            const config::MeasuredRow& row = point.measurements.rows[number];
            const config::MeasuredSeries& series = point.measurements.series[row.series];
            Json settings = Json::object();
            for (std::size_t i = 0; i < series.over.size(); ++i)
                if (row.settings[i] != config::kept_key) settings[series.over[i]] = row.settings[i];
            rows.push_back({{"name", row.name},
                            {"series", series.name},
                            {"variant", series.variant},
                            {"settings", std::move(settings)},
                            {"field", series.field},
                            {"measured", row.value},
                            {"role", role_of(row)},
                            {"doubt", text_or_null(series.doubt)}});
            if (number >= point.trainings.size()) continue;
            const std::optional<RowTraining>& training = point.trainings[number];
            rows.back()["training"] = training ? json_of(*training) : Json(nullptr);
        }
        points.push_back({{"name", point.name}, {"source", point.measurements.source}, {"rows", std::move(rows)}});
    }
    Json json{{"schema_version", result_schema_version}, {"syncline", version}, {"points", std::move(points)}};
    if (names.sample) json["sample"] = sample_object(*names.sample);
    return dumped(json);
}

std::string to_csv(const RowNames& names) {
    std::string text =
        text::line({"point", "row", "series", "variant", "field", "measured", "role", "doubt", "settings"});
    for (const RowNames::Point& point : names.points)
        for (std::size_t i = 0; i < point.measurements.rows.size(); ++i) {
            const config::MeasuredRow& row = point.measurements.rows[i];
            const config::MeasuredSeries& series = point.measurements.series[row.series];
            text += text::line({text::quoted(point.name), text::quoted(row.name), text::quoted(series.name),
                                text::quoted(series.variant), text::quoted(series.field), text::field(row.value),
                                role_of(row), text::quoted(series.doubt),
                                text::quoted(settings_of(point.measurements, i))});
        }
    return text;
}

}  // namespace syncline::validation
