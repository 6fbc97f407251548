#pragma once

#include <map>
#include <string>

#include "sim/config/scenario.hpp"
#include "sim/output/json_text.hpp"

/// Knobs of the live page: keys of a scenario with the values among which its reader chooses.
namespace syncline::serve {

/// Returns the knobs of a variant: first `variant`, if there are several; then those that the scenario has (key
/// `knobs`), else those of usual_knobs(). Each is `{key, label, values, at, kind}`: `values` are texts that `--set
/// KEY=TEXT` reads; `at` is the index of the present one, which is added to the list if it is missing, or null if it is
/// not known; `kind` is `number` if the values are numbers or quantities, else `choice`.
///
/// `scenario` and `variant` are best those of the file as it is, so that a list stays while its knob is turned; `set`
/// has the assignments of the page, by key, which determine `at` alone.
Json knobs_of(const config::Scenario& scenario, const config::Variant& variant,
              const std::map<std::string, std::string>& set = {});

}  // namespace syncline::serve
