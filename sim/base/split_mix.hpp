#pragma once

#include <cstdint>

namespace syncline {

/// By which its generator moves on after each draw.
inline constexpr std::uint64_t split_mix_step = 0x9e3779b97f4a7c15;

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): every bit
/// of the result depends on every bit of `x`.
constexpr std::uint64_t split_mix(std::uint64_t x) {
    x += split_mix_step;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace syncline
