#pragma once

#include <cstdint>
#include <optional>

namespace syncline {

/// Reading of the input from the platform's storage: see sim/lowering/input_load.hpp.
struct Loading {
    std::optional<double> bytes_per_sample;  ///< nothing: 4 bytes for each of a sample's tokens
    std::int64_t prefetch = 2;               ///< iterations ahead that are read; 0: an iteration waits for its input
};

}  // namespace syncline
