#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/topology/cable_colours.hpp"
#include "sim/topology/topology.hpp"

/// Divisions of the vertices of a topology into blocks.
namespace syncline {

struct GraphPartition {
    std::vector<std::uint32_t> block_of;  ///< by vertex; blocks with hosts come first
    std::vector<std::uint32_t> part_of;   ///< by vertex: the block before equal or consecutive ones were joined
    std::uint32_t with_hosts = 0, blocks = 0;
};

/// Finds partitions of a topology; see aggregated().
class Partitioner {
public:
    Partitioner(const Topology& topology, const CableColours& kinds);

    /// Returns a partition with at most `most` blocks, and with at least two if there are two vertices.
    GraphPartition partition(std::uint32_t most) const;

    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ends() const { return ends_; }

private:
    using Labels = std::vector<std::uint32_t>;  ///< a number for each vertex, equal within a block

    GraphPartition numbered(const Labels& labels) const;
    GraphPartition joined_by(std::size_t kinds) const;
    GraphPartition twins_joined(const GraphPartition& partition, bool hosts) const;
    GraphPartition grouped(const GraphPartition& partition, std::uint32_t most) const;

    const Topology& topology_;
    const CableColours& kinds_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_;  ///< by cable
};

}  // namespace syncline
