#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Quantities in readable form: a number and a unit, `25 Gbps`, `1.5 us`, `64 MiB`, `9.3 Tflops`, held in the base unit
/// of its dimension: bytes, seconds, bytes per second, FLOP per second, events per second, watts, joules. Prefixes are
/// SI (k, M, G, T, P, E) or binary (Ki … Pi); `b` and `bit` are bits, `B` is bytes. NaN, infinity and numbers without a
/// unit are errors, except for counts: `300 B` (billion, also `G`), `1.4 T`, `500 M`, `20 k` or `300000` tokens or
/// samples.
namespace syncline {

enum class Dimension { bytes, seconds, bandwidth, flops, rate, count, power, energy };

/// The dimensions whose quantities have a unit.
inline constexpr std::array dimensions_with_units{Dimension::bytes, Dimension::seconds, Dimension::bandwidth,
                                                  Dimension::flops, Dimension::rate,    Dimension::power,
                                                  Dimension::energy};

/// Result of parsing: a value, or an error and a hint how to correct it.
struct Quantity {
    std::optional<double> value;
    std::string error;
    std::string hint;
};

/// Reads `text` as a quantity of `dimension`. Negative values and zero are accepted; the caller decides whether they
/// make sense.
Quantity parse_quantity(std::string_view text, Dimension dimension);

/// Formats a quantity with four significant digits and a decimal prefix: `25.55 MB`, `3.125 GB/s`, `16.96 ms`.
std::string format_quantity(double value, Dimension dimension);

/// Formats an estimate with two significant digits: `26 MB`, `0.7 s`, and long times as `5.5 min`, `3.1 h`, `19 days`.
std::string format_roughly(double value, Dimension dimension);

}  // namespace syncline
