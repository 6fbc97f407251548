#include "sim/topology/aggregate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/topology/network.hpp"
#include "sim/topology/partition.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t most_vertices_drawn = 128;  ///< of hosts, and of switches
constexpr std::uint32_t most_blocks = 72;           ///< in a row, they still have room for a turned label

std::string counted(std::uint32_t count, const std::string& what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : what == "switch" ? "es" : "s");
}

using Sizes = std::vector<std::vector<std::uint32_t>>;

/// Returns, by block, the numbers of hosts of its racks: hosts that share their only switch, which is in the block.
Sizes racks(const Topology& topology, const GraphPartition& partition) {
    std::map<std::uint32_t, std::uint32_t> hosts_of;  // by switch
    for (std::uint32_t host = 0; host < topology.hosts; ++host) {
        std::set<std::uint32_t> neighbours;
        for (auto [edge, end] = boost::out_edges(host, topology.graph); edge != end && neighbours.size() < 2; ++edge)
            neighbours.insert(static_cast<std::uint32_t>(boost::target(*edge, topology.graph)));
        if (neighbours.size() != 1 || *neighbours.begin() < topology.hosts) continue;
        if (partition.block_of[*neighbours.begin()] == partition.block_of[host]) ++hosts_of[*neighbours.begin()];
    }
    Sizes result(partition.blocks);
    for (const auto& [rack, hosts] : hosts_of) result[partition.block_of[rack]].push_back(hosts);
    return result;
}

/// Returns, by block, the numbers of hosts of the equal parts that were joined.
Sizes parts(const Topology& topology, const GraphPartition& partition) {
    std::map<std::uint32_t, std::uint32_t> hosts_of;  // by part
    for (std::uint32_t host = 0; host < topology.hosts; ++host) ++hosts_of[partition.part_of[host]];
    Sizes result(partition.blocks);
    std::set<std::uint32_t> seen;
    for (std::uint32_t host = 0; host < topology.hosts; ++host)
        if (const std::uint32_t part = partition.part_of[host]; seen.insert(part).second)
            result[partition.block_of[host]].push_back(hosts_of[part]);
    return result;
}

/// Returns whether a block consists of several members with equally many hosts, more than one each.
bool divided(const std::vector<std::uint32_t>& sizes, std::uint32_t hosts) {
    return sizes.size() > 1 && sizes.front() > 1 && sizes.size() * sizes.front() == hosts &&
           std::count(sizes.begin(), sizes.end(), sizes.front()) == std::ssize(sizes);
}

/// Returns a label: "8 racks of 16 hosts", "100 hosts", "4 switches", or the name of the only member.
std::string label(const Block& block, const std::vector<std::uint32_t>& racks, const std::vector<std::uint32_t>& parts,
                  const std::string& host) {
    if (block.hosts + block.switches == 1) return block.members;
    if (block.hosts == 0) return counted(block.switches, "switch");
    const bool in_racks = divided(racks, block.hosts), in_parts = divided(parts, block.hosts);
    if (in_parts && !(in_racks && racks.size() == parts.size()))
        return fmt::format("{} groups of {}", parts.size(), counted(parts.front(), host));
    if (in_racks) return fmt::format("{} racks of {}", racks.size(), counted(racks.front(), host));
    return counted(block.hosts, host);
}

std::vector<Block> blocks_of(const Topology& topology, const GraphPartition& partition) {
    std::vector<Block> blocks(partition.blocks);
    std::vector<std::uint32_t> last(partition.blocks);
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
        Block& block = blocks[partition.block_of[vertex]];
        if (block.members.empty()) block.members = topology.graph[vertex].name;
        ++(vertex < topology.hosts ? block.hosts : block.switches);
        if (vertex < topology.hosts || block.hosts == 0) last[partition.block_of[vertex]] = vertex;
    }
    for (std::uint32_t i = 0; i < partition.blocks; ++i)
        if (const std::string& name = topology.graph[last[i]].name; name != blocks[i].members)
            blocks[i].members += " \u2026 " + name;
    return blocks;
}

/// Returns the levels of blocks without those that no block has; blocks with hosts are at the bottom.
std::vector<std::uint32_t> levels_of(const Topology& topology, const GraphPartition& partition) {
    std::vector<std::uint32_t> levels(partition.blocks, 0);
    for (std::uint32_t vertex = topology.hosts; vertex < topology.vertices(); ++vertex) {
        const std::uint32_t block = partition.block_of[vertex];
        if (block >= partition.with_hosts) levels[block] = std::max(levels[block], topology.graph[vertex].level);
    }
    const std::set<std::uint32_t> used(levels.begin(), levels.end());
    for (std::uint32_t& level : levels)
        level = static_cast<std::uint32_t>(std::distance(used.begin(), used.find(level)));
    return levels;
}

/// Returns a spec with the layout that suits the blocks: rows or planes of a torus form a torus of its other
/// dimensions; others are placed by their cables.
TopologySpec spec_of_blocks(const TopologySpec& spec, const Topology& topology, const GraphPartition& partition) {
    TopologySpec result;
    result.shape = Shape::ring;
    if (spec.shape != Shape::torus) return result;
    std::int64_t rows = topology.hosts;
    for (const std::uint32_t size : cyclic_factors(spec, topology)) {
        if (rows > partition.blocks)
            rows /= size;
        else
            result.dimensions.push_back(size);
    }
    if (rows == partition.blocks && result.dimensions.size() > 1) result.shape = Shape::torus;
    return result;
}

}  // namespace

bool is_large(const Topology& topology) {
    return topology.hosts > most_vertices_drawn || topology.vertices() - topology.hosts > most_vertices_drawn;
}

Aggregate aggregated(const TopologySpec& spec, const Topology& topology, const CableColours& kinds) {
    const CableEnds ends = cable_ends(topology);
    const GraphPartition partition = partitioned(topology, kinds, ends, most_blocks);
    Aggregate result{spec_of_blocks(spec, topology, partition), {}, blocks_of(topology, partition), {}};

    const bool directed = topology.directed();
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t>, Bundle> bundles;
    for (std::uint32_t cable = 0; cable < topology.cables; ++cable) {
        std::uint32_t from = partition.block_of[ends[cable].first], to = partition.block_of[ends[cable].second];
        if (from == to) {
            ++result.blocks[from].cables;
            continue;
        }
        if (!directed && from > to) std::swap(from, to);
        ++bundles.try_emplace({from, to, kinds.of_cable[cable]}, Bundle{0, cable}).first->second.cables;
    }

    const std::string host = topology.graph[0].name.starts_with("rank-") ? "rank" : "host";
    const Sizes in_racks = racks(topology, partition), in_parts = parts(topology, partition);
    const auto levels = levels_of(topology, partition);
    for (std::uint32_t i = 0; i < partition.blocks; ++i) {
        std::string name = label(result.blocks[i], in_racks[i], in_parts[i], host);
        if (i < partition.with_hosts)
            result.topology.add_host(std::move(name));
        else
            result.topology.add_switch(std::move(name), levels[i]);
    }
    for (const auto& [key, bundle] : bundles) {
        const auto [from, to, kind] = key;
        if (directed)
            result.topology.add_one_way(from, to, {});
        else
            result.topology.add_cable(from, to, {});
        result.bundles.push_back(bundle);
    }
    return result;
}

}  // namespace syncline
