#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/topology/shape.hpp"

/// A topology as its metrics read it: who is next to whom, in one piece of memory, parallel cables as one link.
namespace syncline {

struct Link {
    std::uint32_t to = 0;
    double out = 0, in = 0;  ///< to this neighbour and from it; one of them is 0 where the only way is one-way
};

enum class Weight { cables, bandwidth };

class Network {
public:
    /// A link weighs as much as its cables: so many, or the sum of their bandwidths in B/s.
    Network(const Topology& topology, Weight weight);

    std::uint32_t hosts() const { return hosts_; }
    std::uint32_t vertices() const { return static_cast<std::uint32_t>(first_.size() - 1); }
    bool one_way() const { return one_way_; }  ///< some link has no way back
    /// Of both directions, in the order of the neighbours.
    std::span<const Link> links(std::uint32_t vertex) const {
        return {links_.data() + first_[vertex], links_.data() + first_[vertex + 1]};
    }

private:
    std::uint32_t hosts_ = 0;
    bool one_way_ = false;
    std::vector<std::size_t> first_;
    std::vector<Link> links_;
};

/// The orders k₁, k₂, … of cyclic groups such that the shape is a Cayley graph of Z_k₁ × Z_k₂ × …: whatever host i
/// sees, every other host sees, moved by its own number (a number with mixed radix, the first factor's digit counts
/// fastest). Empty where the shape is no such graph.
std::vector<std::uint32_t> cyclic_factors(const TopologySpec& spec, const Topology& topology);

}  // namespace syncline
