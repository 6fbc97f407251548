#pragma once

#include <cstdint>
#include <optional>

#include "sim/document/fields.hpp"
#include "sim/training/noise.hpp"

/// The keys `jitter` and `stragglers` of a scenario's training.
namespace syncline::config {

/// Describes both keys. `ranks` is empty if the number of ranks is unknown or wrong.
void describe_noise(Fields& training, std::optional<std::int64_t> ranks, Noise& noise);

}  // namespace syncline::config
