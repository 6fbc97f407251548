#pragma once

#include "sim/document/fields.hpp"
#include "sim/platform/cluster.hpp"

/// Ranges of the bandwidths of machines.
namespace syncline::config {

inline constexpr QuantityRange bandwidths{.least = least_bandwidth_Bps, .most = most_bandwidth_Bps};
inline constexpr QuantityRange bandwidths_or_unlimited{
    .word = "unlimited", .word_value = unlimited, .least = bandwidths.least, .most = bandwidths.most};

}  // namespace syncline::config
