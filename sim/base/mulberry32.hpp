#pragma once

#include <cstdint>

namespace syncline {

/// Mulberry32 (T. Ettinger, 2017, public domain): a generator with a state of 32 bits, the same in a few lines of
/// JavaScript. For choices that a page must repeat; simulations use split_mix().
class Mulberry32 {
public:
    constexpr explicit Mulberry32(std::uint32_t state) : state_(state) {}

    /// Returns the next number, evenly distributed over all of 32 bits.
    constexpr std::uint32_t next() {
        state_ += 0x6d2b79f5;
        std::uint32_t mixed = (state_ ^ (state_ >> 15)) * (state_ | 1);
        mixed ^= mixed + (mixed ^ (mixed >> 7)) * (mixed | 61);
        return mixed ^ (mixed >> 14);
    }
    /// Returns the next number below `count`, which is what Math.floor(count * random()) is in JavaScript.
    constexpr std::uint32_t below(std::uint32_t count) {
        return static_cast<std::uint32_t>((std::uint64_t{next()} * count) >> 32);
    }

private:
    std::uint32_t state_;
};

}  // namespace syncline
