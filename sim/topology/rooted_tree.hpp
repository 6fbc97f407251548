#pragma once

#include <cstdint>
#include <vector>

#include "sim/topology/network.hpp"

namespace syncline {

/// Returns true if there is exactly one path between any two vertices, in both directions. Links may be several cables.
bool is_tree(const Network& network);

/// A tree seen from vertex 0.
struct RootedTree {
    explicit RootedTree(const Network& network);

    std::vector<std::uint32_t> parents;  ///< by vertex; that of vertex 0 is itself
    std::vector<std::uint32_t> order;    ///< vertices, parents before their children
};

}  // namespace syncline
