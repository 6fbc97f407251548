#pragma once

#include <string>
#include <vector>

#include "sim/workload/transformer.hpp"

/// Parts of the counts of transformers' layers.
namespace syncline {

/// Returns a layer that reads and passes on one vector of `width` per position.
Layer residual(std::string name, std::int64_t positions, std::int64_t width);

/// Adds the parameters and multiply-accumulates of whole matrices.
void add_matrices(Layer& layer, const std::vector<WeightMatrix>& matrices, bool bias);

}  // namespace syncline
