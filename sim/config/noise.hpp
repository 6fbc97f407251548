#pragma once

#include "sim/document/fields.hpp"
#include "sim/training/noise.hpp"

/// The keys `jitter` and `stragglers` of a scenario's training.
namespace syncline::config {

/// Describes both keys.
void describe_noise(Fields& training, Noise& noise);

}  // namespace syncline::config
