#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/diagnostics.hpp"

/// What a scenario says must come out of it, and who says so.
///
/// Compared is one number of a variant's result, as JSON names it and in its unit; with `over` that number divided by
/// the same one of another variant, which has no unit. Of an exchange alone it is that of one size. Either
/// `value` ± `tolerance` holds it, or at least one of `least` and `most` is there; bounds belong to what is allowed.
namespace syncline {

struct Expectation {
    std::string variant;
    std::string field;  ///< `closed_form.iteration_time_s`: a path into the variant's result
    std::string over;   ///< the other variant; empty: none
    std::optional<std::uint64_t> bytes = {};
    std::optional<double> value = {};
    double tolerance = 0;  ///< in the unit of `value`, also where the file gives a percentage
    std::optional<double> least = {}, most = {};
    std::string source;
    Location field_at = {};  ///< for messages: whether there is such a field only the writers know
};

}  // namespace syncline
