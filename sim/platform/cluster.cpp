#include "sim/platform/cluster.hpp"

#include <algorithm>
#include <utility>

#include "sim/platform/node_rings.hpp"

namespace syncline {

std::uint32_t NodeDesign::nic(std::uint32_t device) const {
    if (!nic_of_device.empty()) return static_cast<std::uint32_t>(nic_of_device[device]);
    return static_cast<std::uint32_t>(device * nics / devices);
}

Cluster star_cluster(std::int64_t nodes, double bandwidth_Bps, double latency_s) {
    Cluster cluster;
    cluster.nodes = nodes;
    cluster.fabric.topology.bandwidth_Bps = {bandwidth_Bps};
    cluster.fabric.topology.latency_s = {latency_s};
    return cluster;
}

std::int64_t Cluster::own_nodes() const {
    std::int64_t own = nodes;
    for (const OtherNodes& other : others) own -= other.count;
    return own;
}

std::size_t Cluster::kind_of(std::uint32_t number) const {
    if (others.empty()) return 0;
    std::int64_t end = own_nodes();
    std::size_t kind = 0;
    // Nodes behind the last one are for servers, which run on hosts.
    while (std::cmp_greater_equal(number, end) && kind < others.size()) end += others[kind++].count;
    return kind;
}

bool Cluster::has_power() const {
    const bool others_have =
        std::ranges::any_of(others, [](const OtherNodes& other) { return other.device.power.has_value(); });
    return device.power || others_have || host.power || fabric.switch_power || fabric.port_power;
}

bool latency_travels(const Cluster& cluster) {
    return cluster.latency == Latency::travelling && latency_is_ours(cluster.network) && !cluster.native;
}

Routing::Policy policy_of(const Fabric& fabric) {
    const bool levels = fabric.topology.shape == Shape::fat_tree;
    return fabric.routing.policy.value_or(levels ? Routing::Policy::d_mod_k : Routing::Policy::ecmp);
}

bool relays_on_rails(const Cluster& cluster) {
    const NodeDesign& node = cluster.node;
    const bool linked = node.links != NodeLinks::pcie && node.links != NodeLinks::ring;
    if (cluster.native || node.devices == 1 || node.nics == 1 || !linked) return false;
    const bool rails = cluster.fabric.topology.shape == Shape::rails;
    return cluster.transport.pxn.value_or(rails && cluster.transport.channels == 0);
}

bool reaches_all_rails(const Cluster& cluster) {
    const NodeDesign& node = cluster.node;
    bool one_port = true, linked = true;
    for (std::uint32_t a = 0; a < node.devices; ++a)
        for (std::uint32_t b = 0; b < a; ++b) {
            one_port = one_port && node.nic(a) == node.nic(b);
            linked = linked && (node.links != NodeLinks::mesh || direct_links(node, a, b) > 0);
        }
    return one_port || (linked && relays_on_rails(cluster));
}

SpeedBesideExchange speed_beside_exchange(const Cluster& cluster, std::size_t kind) {
    const Device& device = cluster.device_of(kind);
    const ExchangeMultiprocessors& taken = cluster.transport.exchange_multiprocessors;
    const SpeedBesideExchange& measured = device.speed_beside_exchange;
    if (measured.slows() || !taken.any() || device.multiprocessors == 0) return measured;
    SpeedBesideExchange speed;
    for (std::size_t of = 0; of < exchange_classes; ++of)
        speed.of[of] = 1 - static_cast<double>(taken.of[of]) / static_cast<double>(device.multiprocessors);
    return speed;
}

bool slows_beside_exchange(const Cluster& cluster) {
    for (std::size_t kind = 0; kind < cluster.kinds(); ++kind)
        if (speed_beside_exchange(cluster, kind).slows()) return true;
    return false;
}

double reduction_Bps(const Cluster& cluster) {
    const Reduction& reduction = cluster.transport.reduction;
    const bool on_device = reduction.where == Reduction::Where::device;
    double device_Bps = cluster.device.reduction_Bps;
    for (const OtherNodes& other : cluster.others) device_Bps = std::min(device_Bps, other.device.reduction_Bps);
    return reduction.rate_Bps.value_or(on_device ? device_Bps : cluster.host.reduction_Bps);
}

bool is_flat(const Cluster& cluster) {
    return !cluster.native && cluster.node.devices == 1 && cluster.node.nics == 1 &&
           cluster.node.nic_link.bandwidth_Bps == unlimited && cluster.node.nic_link.latency_s == 0 &&
           cluster.fabric.topology.shape == Shape::star &&
           std::ranges::none_of(cluster.others, [](const OtherNodes& other) { return other.port_Bps.has_value(); });
}

}  // namespace syncline
