#pragma once

#include <compare>
#include <cstdint>

namespace syncline {

/// Location of a process: a device of a node, the node's host, or a switch of the fabric.
struct Place {
    static constexpr std::uint32_t host = ~std::uint32_t{0};
    static constexpr std::uint32_t first_fabric_switch = std::uint32_t{1} << 31;

    std::uint32_t node = 0;    ///< of a switch of the fabric: any node that is in use
    std::uint32_t device = 0;  ///< or `host`, or a switch of the fabric

    /// Returns the place of a vertex of the fabric; `node` is any node that is in use.
    static Place fabric_switch(std::uint32_t node, std::uint32_t vertex) {
        return {node, first_fabric_switch + vertex};
    }
    bool on_device() const { return device < first_fabric_switch; }
    bool in_fabric() const { return device >= first_fabric_switch && device < host; }
    std::uint32_t vertex() const { return device - first_fabric_switch; }  ///< if it is in the fabric

    auto operator<=>(const Place&) const = default;
};

/// Where a link is. A port's are those between a device and its port, and between a host of the fabric and what it is
/// attached to, which in a torus are all cables.
enum class LinkKind : std::uint8_t { node, port, fabric, transport, other };

/// Returns true if both are in the same node.
inline bool in_same_node(const Place& a, const Place& b) {
    return a.node == b.node && !a.in_fabric() && !b.in_fabric();
}

}  // namespace syncline
