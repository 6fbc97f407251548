#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/measured/measured.hpp"
#include "sim/output/columns.hpp"
#include "sim/plan/parallelism.hpp"
#include "sim/validation/chosen_rows.hpp"
#include "sim/validation/validation.hpp"

/// Formats the results of validations and calibrations as text. Numbers are in the field's unit in JSON and CSV, and in
/// the file's unit in tables.
namespace syncline::validation {

/// Several scenarios, compared with measurements.
struct Points {
    std::vector<Validation> points;
    std::optional<Sample> sample = {};
    std::vector<std::string> failed = {};  ///< scenarios that are not among them, with the reason
};

std::string to_table(const Points& points, const text::TableLayout& layout = {});
std::string to_json(const Points& points);
/// Writes one line per row.
std::string to_csv(const Points& points);

/// What a row trains, and on what.
struct RowTraining {
    std::string device, model;
    std::int64_t ranks = 1, batch = 1;
    std::int64_t parameters = 0, experts = 0;  ///< of the model; of a layer, at most
    Parallelism parallelism;                   ///< of the plan
};

/// Returns nothing for rows that are no trainings, and for plans that are open.
std::optional<RowTraining> training_of(const config::MeasuredScenario& scenario, const config::MeasuredRow& row);

/// The rows of several scenarios, without predictions.
struct RowNames {
    struct Point {
        std::string name;
        config::Measurements measurements;
        std::vector<std::optional<RowTraining>> trainings = {};  ///< by row; empty: not shown
    };
    std::vector<Point> points;
    std::optional<Sample> sample = {};
};

std::string to_table(const RowNames& names, const text::TableLayout& layout = {});
std::string to_json(const RowNames& names);
/// Writes one line per row.
std::string to_csv(const RowNames& names);

/// One scenario whose parameters were estimated.
struct Fitted {
    Validation validation;
};

std::string to_table(const Fitted& fitted, const text::TableLayout& layout = {});
std::string to_json(const Fitted& fitted);
/// Writes one line per parameter.
std::string to_csv(const Fitted& fitted);

/// Returns a line on the rows that were drawn.
std::string sentence(const Sample& sample);
/// Returns a row's settings: `training.ranks=2; …`.
std::string settings_of(const config::Measurements& all, std::size_t row);
/// Returns the word for an ending in JSON and CSV: `found`, `at-least`, ….
std::string word(Ending ending);
/// Returns assignments as in `--set`, one for each parameter with a value that applies to all series, except factors.
std::vector<std::string> assignments(const config::Measurements& measurements,
                                     const std::vector<std::optional<double>>& values);

}  // namespace syncline::validation
