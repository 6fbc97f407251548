#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/base/expectation.hpp"

/// Results compared with what was expected of them (sim/base/expectation.hpp).
///
/// Fields are looked up in the JSON that the writers make, so every number there can be expected and no list of names
/// is kept beside it. A path's parts are joined by dots; a whole number is a place in a list (`links.0.utilisation`).
/// Of an exchange alone the fields are those of one of its `points`, and its own.
namespace syncline {

struct Check {
    Expectation expectation;
    /// In the field's unit, a ratio with `over`. Nothing where the field is null, or what it is divided by zero: then
    /// the expectation is missed.
    std::optional<double> found;
    bool ok = false;
};

/// Throws ConfigError with the places of those fields that no result has, or that are no numbers. A field that may be
/// null passes, whatever it else holds. To be asked before anything is simulated.
void require_fields(const std::vector<Expectation>& expectations, bool exchanges_alone);

/// The same of results that are each of one size or training: see number_of().
void require_result_fields(const std::vector<Expectation>& expectations, bool exchanges_alone);

/// What `field` is in `result`, JSON of one training or of one exchange alone (to_json); nothing where it is null. The
/// field is there: see require_result_fields().
std::optional<double> number_of(const std::string& result, const std::string& field);

/// Each expectation's variants must be in `report`, its size among the points. Throws ConfigError as above.
std::vector<Check> check(const std::vector<Expectation>& expectations, const Report& report);
std::vector<Check> check(const std::vector<Expectation>& expectations, const SweepReport& report);

/// The results with `checks` beside them.
std::string to_json(const Report& report, const std::vector<Check>& checks);
std::string to_json(const SweepReport& report, const std::vector<Check>& checks);
/// The checks alone.
std::string to_csv(const std::vector<Check>& checks);
std::string to_table(const std::vector<Check>& checks);

}  // namespace syncline
