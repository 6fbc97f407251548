#pragma once

#include <optional>

#include "sim/workload/model.hpp"

namespace syncline {

/// Returns the number of tokens of a sample: the positions of the model's first embedding. Empty for models without
/// one.
std::optional<double> tokens_per_sample(const Model& model);

}  // namespace syncline
