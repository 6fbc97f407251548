#pragma once

#include <compare>
#include <cstdint>

namespace syncline {

/// Where a process runs: on a device of a node, or on the node's host.
struct Place {
    static constexpr std::uint32_t host = ~std::uint32_t{0};

    std::uint32_t node = 0;
    std::uint32_t device = 0;  ///< or `host`

    auto operator<=>(const Place&) const = default;
};

}  // namespace syncline
