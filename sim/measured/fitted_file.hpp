#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/measured/measured.hpp"

/// Estimated parameters as a file that a scenario names: `platform.transport: fitted.yaml`.
namespace syncline::config {

/// Returns the part of the platform, "transport" or "device", that has all parameters; "" if none has.
std::string fitted_part(const Measurements& measurements);

/// Returns the file of that part of the first row's platform, with these values of the parameters. Files that it names
/// have absolute names. Throws ConfigError.
std::string fitted_file(const MeasuredScenario& scenario, const std::vector<std::optional<double>>& values,
                        const std::string& part);

}  // namespace syncline::config
