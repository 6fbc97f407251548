#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/diagnostics.hpp"

/// An expectation of a scenario: a value or bounds for a number of a variant's result, under its JSON name and in its
/// unit, or divided by the same number of another variant (`over`). It has either `value` ± `tolerance`, or at least
/// one of `least` and `most`, inclusive.
namespace syncline {

struct Expectation {
    std::string variant;
    std::string field;  ///< `closed_form.iteration_time_s`: a path into the variant's result
    std::string over;   ///< the other variant; empty: none
    std::optional<std::uint64_t> bytes = {};
    std::optional<double> value = {};
    double tolerance = 0;  ///< in the unit of `value`, even if the file gives a percentage
    std::optional<double> least = {}, most = {};
    std::string source;
    Location field_at = {};  ///< for messages: only the writers of results know whether the field exists
};

}  // namespace syncline
