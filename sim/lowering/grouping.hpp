#pragma once

#include <compare>
#include <cstdint>

namespace syncline {

/// Partition of the ranks of a stage into groups of `size` whose members are `stride` apart: index i is in the group
/// that begins with (i / (size·stride))·size·stride + i mod stride, as its (i / stride) mod size-th member.
struct Grouping {
    std::uint32_t size = 1;
    std::uint32_t stride = 1;

    std::uint32_t first(std::uint32_t index) const {
        return index / (size * stride) * (size * stride) + index % stride;
    }
    std::uint32_t member(std::uint32_t index) const { return index / stride % size; }
    std::uint32_t index(std::uint32_t first, std::uint32_t member) const { return first + member * stride; }
    auto operator<=>(const Grouping&) const = default;
};

}  // namespace syncline
