#pragma once

#include <string>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/config/measured.hpp"

namespace syncline::config {

/// The key `measured` as it was read, before anything is looked up.
struct MeasuredKeys {
    Measurements measurements;
    /// By parameter: the rows that it names; none: all that calibrate.
    std::vector<std::vector<std::string>> parameter_rows;
};

/// The table of what stands under the key.
void describe(Fields& fields, MeasuredKeys& keys);

/// The key itself, for the table of a scenario.
void describe_measured(Fields& fields, MeasuredKeys& keys);

}  // namespace syncline::config
