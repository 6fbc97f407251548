#pragma once

#include <compare>
#include <cstdint>

namespace syncline {

/// Location of a process: a device of a node, or the node's host.
struct Place {
    static constexpr std::uint32_t host = ~std::uint32_t{0};

    std::uint32_t node = 0;
    std::uint32_t device = 0;  ///< or `host`

    auto operator<=>(const Place&) const = default;
};

}  // namespace syncline
