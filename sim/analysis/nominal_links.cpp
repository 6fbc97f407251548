#include "sim/analysis/nominal_links.hpp"

#include <algorithm>
#include <map>

namespace syncline {

namespace {

/// Returns the nominal rate of a port, which may be that of the link to it.
double port_Bps(const Cluster& cluster) {
    const std::vector<double>& levels = cluster.fabric.topology.bandwidth_Bps;
    return std::min(levels.empty() ? 0 : levels.front(), cluster.node.nic_link.bandwidth_Bps);
}

}  // namespace

std::vector<std::string> nominal_link_notes(const Lowered& training) {
    constexpr double doubtful_Bps = 25e9 / 8;
    const Cluster& cluster = training.cluster;
    if (cluster.native || cluster.network != NetworkModel::exact || !is_plain(cluster.transport)) return {};
    std::map<std::uint32_t, std::size_t> ranks;  // by node
    std::size_t together = 0;
    for (const Place& place : training.places) together = std::max(together, ++ranks[place.node]);
    std::vector<std::string> notes;
    if (ranks.size() > 1 && cluster.node.nics == 1 && port_Bps(cluster) > doubtful_Bps)
        notes.emplace_back(
            "nodes send at their port's nominal bandwidth, as with RDMA: over TCP a node reaches 10 to 20 Gb/s, and "
            "iterations take longer (`transport: tcp`, or its `host_bandwidth`)");
    if (together > 1 && cluster.node.links == NodeLinks::pcie && !cluster.device.speed_beside_exchange.slows())
        notes.emplace_back(
            "exchanges over PCIe do not slow down computation here: without peer access they copy through the host, "
            "and "
            "iterations take longer (the device's `speed_beside_exchange`)");
    return notes;
}

}  // namespace syncline
