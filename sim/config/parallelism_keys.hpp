#pragma once

#include <cstdint>

#include "sim/document/fields.hpp"
#include "sim/lowering/open_plan.hpp"

/// Reads the key `parallelism` of a scenario's training: a word, or a product of ways to divide the model among ranks.
namespace syncline::config {

/// Reads the key into `parallelism` and `open`. A word divides the work among all `ranks` in one way.
void describe_parallelism(Fields& training, std::int64_t ranks, Parallelism& parallelism, OpenPlan& open);

}  // namespace syncline::config
