#pragma once

#include "sim/collective/algorithm.hpp"

/// Properties of an overlay that algorithms need.
namespace syncline {

/// Returns the overlay of `spec` for `ranks` ranks. Throws AlgorithmError on key "overlay" if it cannot be made.
Topology make_overlay(const TopologySpec& spec, std::uint32_t ranks);

/// Returns the overlay of `spec`; a standard one of this shape if it gives none.
TopologySpec overlay_or(const AlgorithmSpec& spec, Shape shape, bool directed);

/// Returns the levels of the overlay of `spec`. Throws AlgorithmError on key "overlay" or "algorithm" unless it is
/// hierarchical and fits `ranks`.
const std::vector<HierarchyLevel>& hierarchy(const AlgorithmSpec& spec, std::uint32_t ranks);

/// Returns, by rank, the ranks that it sends to (and, in an undirected overlay, receives from), in index order, each
/// once.
std::vector<std::vector<std::uint32_t>> neighbours(const Topology& overlay);

/// A tree over all ranks. Rank 0 is the root and has itself as parent.
struct SpanningTree {
    std::vector<std::uint32_t> parent;
    std::vector<std::vector<std::uint32_t>> children;
};

/// Returns the breadth-first tree from rank 0, with neighbours in index order. Throws AlgorithmError on key "overlay"
/// if the overlay is directed: results return the way that contributions came.
SpanningTree spanning_tree(const Topology& overlay);

}  // namespace syncline
