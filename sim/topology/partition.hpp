#pragma once

#include <cstdint>
#include <vector>

#include "sim/topology/cable_colours.hpp"
#include "sim/topology/layout.hpp"

/// Divisions of the vertices of a topology into blocks.
namespace syncline {

struct GraphPartition {
    std::vector<std::uint32_t> block_of;  ///< by vertex; blocks with hosts come first
    std::vector<std::uint32_t> part_of;   ///< by vertex: the block before equal or consecutive ones were joined
    std::uint32_t with_hosts = 0, blocks = 0;
};

/// Returns a partition with at most `most` blocks, and with at least two if there are two vertices; see aggregated().
GraphPartition partitioned(const Topology& topology, const CableColours& kinds, const CableEnds& ends,
                           std::uint32_t most);

}  // namespace syncline
