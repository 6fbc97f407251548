#pragma once

#include <string>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/config/measured.hpp"

namespace syncline::config {

/// The key `measured` as it was read, before anything is looked up.
struct MeasuredKeys {
    Measurements measurements;
    /// The rows that each parameter names; if none, all calibration rows.
    std::vector<std::vector<std::string>> parameter_rows;
};

/// Describes the content of the key.
void describe(Fields& fields, MeasuredKeys& keys);

/// Describes the key itself, for the table of a scenario.
void describe_measured(Fields& fields, MeasuredKeys& keys);

}  // namespace syncline::config
