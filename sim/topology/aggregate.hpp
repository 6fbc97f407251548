#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/topology/cable_colours.hpp"
#include "sim/topology/shape.hpp"

/// Large topologies in a picture: blocks of hosts and switches that are drawn as one symbol each.
namespace syncline {

/// The hosts and switches that a symbol stands for, and the cables between them.
struct Block {
    std::uint32_t hosts = 0, switches = 0, cables = 0;
    std::string members;  ///< names of the first and the last one, for a tooltip
};

/// A bundle of cables of one kind between two blocks.
struct Bundle {
    std::uint32_t cables = 0;
    std::uint32_t first = 0;  ///< the number of one of them
};

struct Aggregate {
    TopologySpec spec;            ///< of `topology`, for its layout
    Topology topology;            ///< blocks as vertices, named "8 racks of 16 hosts"; bundles as cables
    std::vector<Block> blocks;    ///< by vertex
    std::vector<Bundle> bundles;  ///< by cable
};

/// Returns whether a topology has too many vertices to draw each.
bool is_large(const Topology& topology);

/// Joins vertices into at most 72 blocks, the smallest ones that suffice. Blocks grow along the kinds of cables, from
/// the hosts up: hosts that share a switch, then pods or groups, and so on. Switches with the same neighbours are one
/// block, and hosts, if it is necessary. If no kind of cable divides the topology, consecutive hosts are joined.
Aggregate aggregated(const TopologySpec& spec, const Topology& topology, const CableColours& kinds);

}  // namespace syncline
