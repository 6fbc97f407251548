#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/topology/shape.hpp"

/// A topology in the form that its metrics read: neighbours in contiguous memory, parallel cables merged into one link.
namespace syncline {

struct Link {
    std::uint32_t to = 0;
    double out = 0, in = 0;  ///< to this neighbour and from it; one of them is 0 if the connection is one-way
};

enum class Weight { cables, bandwidth };

class Network {
public:
    /// The weight of a link is the number of its cables, or the sum of their bandwidths in B/s.
    Network(const Topology& topology, Weight weight);

    std::uint32_t hosts() const { return hosts_; }
    std::uint32_t vertices() const { return static_cast<std::uint32_t>(first_.size() - 1); }
    bool one_way() const { return one_way_; }  ///< some link has no opposite direction
    /// Returns the links of both directions, in the order of the neighbours.
    std::span<const Link> links(std::uint32_t vertex) const {
        return {links_.data() + first_[vertex], links_.data() + first_[vertex + 1]};
    }

private:
    std::uint32_t hosts_ = 0;
    bool one_way_ = false;
    std::vector<std::size_t> first_;
    std::vector<Link> links_;
};

/// Returns true if there is exactly one path between any two vertices, in both directions. Links may be several cables.
bool is_tree(const Network& network);

/// The tree of shortest paths from vertex 0, in any network, whatever the directions of its links.
struct RootedTree {
    explicit RootedTree(const Network& network);

    std::vector<std::uint32_t> parents;  ///< by vertex; that of vertex 0 is itself
    std::vector<std::uint32_t> order;    ///< vertices, parents before their children
};

/// Returns the orders k₁, k₂, … of cyclic groups such that the shape is a Cayley graph of Z_k₁ × Z_k₂ × …: every host
/// sees what host i sees, shifted by its own number (a number with mixed radix, in which the first factor's digit
/// counts fastest). Empty if the shape is no such graph.
std::vector<std::uint32_t> cyclic_factors(const TopologySpec& spec, const Topology& topology);

}  // namespace syncline
