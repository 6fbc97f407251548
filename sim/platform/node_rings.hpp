#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/platform/cluster.hpp"

/// The rings of devices that the channels of a collective can use side by side inside a node. Links are full duplex, so
/// two rings share nothing if no two devices follow each other in both, more often than the two have links.
/// - Switch: the devices in their order; all rings share the devices' own links.
/// - PCIe: one ring, since each ring crosses the host bridge.
/// - Links between pairs (mesh, all-to-all, ring): edge-disjoint Hamiltonian cycles of the multigraph, each followed by
///   its reverse, then further cycles in one direction where links are left. An undirected graph of minimum degree δ
///   has at most ⌊δ/2⌋ such cycles, so a device with l links has at most l rings: 4 in a DGX-1 with P100, 6 with V100,
///   as many as NCCL uses.
///
/// The cycles are found by backtracking in lexicographic order within a limited number of steps: complete for the 8
/// devices of a DGX-1; larger graphs may have more. A complete graph has at least the ⌊(n-1)/2⌋ cycles of Walecki's
/// construction (B. Alspach, "The wonderful Walecki construction", Bulletin of the ICA 52, 2008). Left out: rings that
/// visit a device outside the list, as NCCL's before 2.0, and paths between network ports.
namespace syncline {

/// Returns at least one and at most `most` rings of the given devices of a node, each with all of them, beginning with
/// the first; on a switch, as many as asked. If there is no Hamiltonian cycle, as on a mesh of which a job uses devices
/// that no links connect in a circle, the only ring is the devices in their order; some of its messages then take
/// detours. `devices`: different devices of the node, at least one. `most`: at least 1.
std::vector<std::vector<std::uint32_t>> node_rings(const NodeDesign& node, std::span<const std::uint32_t> devices,
                                                   std::uint32_t most);

/// Returns the number of links from one device to another in one direction; 0 where there is none of their own, as on a
/// switch.
std::uint32_t direct_links(const NodeDesign& node, std::uint32_t from, std::uint32_t to);

}  // namespace syncline
