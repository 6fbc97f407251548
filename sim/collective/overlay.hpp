#pragma once

#include <cstdint>
#include <vector>

#include "sim/topology/shape.hpp"

/// What algorithms need to know of an overlay.
namespace syncline {

/// The overlay of `spec` for `ranks` ranks. Throws AlgorithmError on key "overlay" when there is none.
Topology make_overlay(const TopologySpec& spec, std::uint32_t ranks);

/// By rank, who it sends to (and, in an undirected overlay, receives from), in index order, each once.
std::vector<std::vector<std::uint32_t>> neighbours(const Topology& overlay);

/// A tree over all ranks. Rank 0 is the root and has itself as parent.
struct SpanningTree {
    std::vector<std::uint32_t> parent;
    std::vector<std::vector<std::uint32_t>> children;
};

/// Breadth first from rank 0, neighbours in index order. Throws AlgorithmError on key "overlay" if the overlay is
/// directed: results go back the way that contributions came.
SpanningTree spanning_tree(const Topology& overlay);

}  // namespace syncline
