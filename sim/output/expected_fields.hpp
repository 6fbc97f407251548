#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/base/expectation.hpp"
#include "sim/output/columns.hpp"
#include "sim/output/json_text.hpp"

/// Comparison of results with expectations (sim/base/expectation.hpp), by the fields of sim/output/result_fields.hpp. A
/// whole number in a path is an index into a list (`links.0.utilisation`).
namespace syncline {

struct Check {
    Expectation expectation;
    /// Value in the field's unit, or a ratio with `over`. Empty if a field is null or the divisor is zero; the
    /// expectation is then missed.
    std::optional<double> found;
    bool ok = false;
};

/// Throws ConfigError with the locations of fields that no result has, or that are not numbers. A field that may be
/// null passes, whatever it otherwise contains. To be called before anything is simulated.
void require_fields(const std::vector<Expectation>& expectations, bool exchanges_alone);

/// Does the same for results of a single size or training: see number_of().
void require_result_fields(const std::vector<Expectation>& expectations, bool exchanges_alone);

/// Returns the value of `field` in `result`, one training or one collective operation (object_of); empty if it is null.
/// The field must exist: see require_result_fields().
std::optional<double> number_of(const Json& result, const std::string& field);

/// Compares `report` with the expectations. Each expectation's variants must be in `report` and its size among the
/// points. Throws ConfigError as above.
std::vector<Check> check(const std::vector<Expectation>& expectations, const Report& report);
std::vector<Check> check(const std::vector<Expectation>& expectations, const SweepReport& report);

/// Returns the results with an additional field `checks`.
std::string to_json(const Report& report, const std::vector<Check>& checks);
std::string to_json(const SweepReport& report, const std::vector<Check>& checks);
/// Returns only the checks.
std::string to_csv(const std::vector<Check>& checks);
std::string to_table(const std::vector<Check>& checks, const text::TableLayout& layout = {});

}  // namespace syncline
