#include "sim/collective/overlay.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace syncline {

Topology make_overlay(const TopologySpec& spec, std::uint32_t ranks) {
    try {
        return make_topology(spec, Use::overlay, ranks);
    } catch (const TopologyError& error) {
        throw AlgorithmError("overlay", error.what(), error.hint);
    }
}

TopologySpec overlay_or(const AlgorithmSpec& spec, Shape shape, bool directed) {
    if (spec.overlay) return *spec.overlay;
    TopologySpec standard;
    standard.shape = shape;
    standard.directed = directed;
    return standard;
}

const std::vector<HierarchyLevel>& hierarchy(const AlgorithmSpec& spec, std::uint32_t ranks) {
    if (!spec.overlay || spec.overlay->shape != Shape::hierarchical)
        throw AlgorithmError(
            spec.overlay ? "overlay" : "algorithm",
            fmt::format("'{}' needs an overlay of shape 'hierarchical'", spec.name),
            "list its levels, innermost first: {topology: hierarchical, levels: [{pattern: ring, size: 8}, "
            "{pattern: ring}]}");
    make_overlay(*spec.overlay, ranks);  // only for its checks
    return spec.overlay->levels;
}

std::vector<std::vector<std::uint32_t>> neighbours(const Topology& overlay) {
    std::vector<std::vector<std::uint32_t>> result(overlay.hosts);
    for (std::uint32_t rank = 0; rank < overlay.hosts; ++rank) {
        for (auto [edge, end] = boost::out_edges(rank, overlay.graph); edge != end; ++edge)
            result[rank].push_back(static_cast<std::uint32_t>(boost::target(*edge, overlay.graph)));
        std::sort(result[rank].begin(), result[rank].end());
        result[rank].erase(std::unique(result[rank].begin(), result[rank].end()), result[rank].end());
    }
    return result;
}

SpanningTree spanning_tree(const Topology& overlay) {
    if (overlay.directed())
        throw AlgorithmError("overlay", "a reduction and broadcast over a tree needs connections in both directions",
                             "remove 'directed', or use the algorithm 'gossip' of neighbour-exchange");
    const auto adjacent = neighbours(overlay);
    SpanningTree tree{std::vector<std::uint32_t>(overlay.hosts, 0),
                      std::vector<std::vector<std::uint32_t>>(overlay.hosts)};
    std::vector<bool> seen(overlay.hosts, false);
    std::vector<std::uint32_t> order{0};
    seen[0] = true;
    for (std::size_t next = 0; next < order.size(); ++next) {
        const std::uint32_t rank = order[next];
        for (const std::uint32_t neighbour : adjacent[rank]) {
            if (seen[neighbour]) continue;
            seen[neighbour] = true;
            tree.parent[neighbour] = rank;
            tree.children[rank].push_back(neighbour);
            order.push_back(neighbour);
        }
    }
    return tree;
}

}  // namespace syncline
