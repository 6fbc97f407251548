#include "sim/analysis/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

/// Adds the energy of switches and ports.
void add_fabric(Energy& energy, const Cluster& cluster, const Working& working) {
    const auto &of_switch = cluster.fabric.switch_power, &of_port = cluster.fabric.port_power;
    if (!of_switch && !of_port) return;
    const Wiring wiring(cluster, working.wired);
    std::unordered_map<std::string_view, double> bytes;  // by link
    for (const LinkUse& link : working.links) bytes[link.name] += static_cast<double>(link.bytes);
    const Topology& fabric = wiring.fabric();
    const double nodes = static_cast<double>(fabric.hosts) / static_cast<double>(cluster.node.nics);
    const double used = std::min(1.0, static_cast<double>(working.nodes) / nodes);

    struct Sent {
        double bandwidth_Bps = 0, bytes = 0;
    };
    std::vector<Sent> sent(fabric.vertices());
    double ports_J = 0;
    for (Wiring::Link link = 0; link < wiring.links() && wiring.in_fabric(link); ++link) {
        const Router::Hop& hop = wiring.hop(link);
        const auto found = bytes.find(wiring.name(link));
        const double carried = found == bytes.end() ? 0 : found->second;
        sent[hop.from].bandwidth_Bps += hop.wire.bandwidth_Bps;
        sent[hop.from].bytes += carried;
        if (of_port)
            ports_J += of_port->count(hop.wire.bandwidth_Bps) *
                       of_port->energy_J(used * working.seconds, carried / hop.wire.bandwidth_Bps);
    }
    if (of_port) energy.ports_J = ports_J;
    if (!of_switch) return;
    double switches_J = 0;
    for (std::uint32_t vertex = fabric.hosts; vertex < fabric.vertices(); ++vertex) {
        const Sent& all = sent[vertex];
        if (all.bandwidth_Bps == 0) continue;
        switches_J += of_switch->count(all.bandwidth_Bps) *
                      of_switch->energy_J(used * working.seconds, all.bytes / all.bandwidth_Bps);
    }
    energy.switches_J = switches_J;
}

/// Adds devices and hosts, of which so many seconds pass together.
void add_nodes(Energy& energy, const Cluster& cluster, double devices_s, double hosts_s, const Activity& activity) {
    if (const auto& device = cluster.device.power)
        energy.devices_J = device->energy_J(devices_s, activity.compute_s) +
                           (device->communicating_W - device->idle_W) * activity.exposed_communication_s;
    if (const auto& host = cluster.host.power) energy.hosts_J = host->energy_J(hosts_s, activity.host_s);
}

}  // namespace

double Energy::total_J() const {
    double sum_J = 0;
    for (const std::optional<double>& part_J : {devices_J, hosts_J, switches_J, ports_J}) sum_J += part_J.value_or(0);
    return pue.value_or(1) * sum_J;
}

std::optional<double> Energy::mean_W() const {
    return seconds > 0 ? std::optional(total_J() / seconds) : std::nullopt;
}

std::optional<double> Energy::per_million_samples_J(std::int64_t samples) const {
    return samples > 0 ? std::optional(total_J() / static_cast<double>(samples) * 1e6) : std::nullopt;
}

std::string Energy::note() const {
    std::vector<std::string> without;
    const auto add = [&](const std::optional<double>& part_J, const char* name) {
        if (!part_J) without.emplace_back(name);
    };
    add(devices_J, "devices");
    add(hosts_J, "hosts");
    add(switches_J, "switches");
    add(ports_J, "ports");
    if (!pue) without.emplace_back("cooling");
    if (without.empty()) return "";
    const std::string last = without.back();
    without.pop_back();
    return fmt::format("energy is without {}{}{}, for which the platform has no `power`{}", fmt::join(without, ", "),
                       without.empty() ? "" : " and ", last, pue ? "" : " or `pue`");
}

double idle_W(const Cluster& cluster, std::int64_t nodes, std::uint32_t wired) {
    const std::optional<Energy> idle = energy_of(cluster, Working{1, nodes, wired, {}, {}});
    return idle ? idle->total_J() / static_cast<double>(nodes) : 0;
}

std::optional<Energy> energy_of(const Cluster& cluster, const Working& working) {
    if (!cluster.has_power()) return std::nullopt;
    Energy energy;
    energy.seconds = working.seconds;
    energy.pue = cluster.pue;
    const auto nodes = static_cast<double>(working.nodes);
    const double devices = nodes * static_cast<double>(cluster.node.devices);
    add_nodes(energy, cluster, devices * working.seconds, nodes * working.seconds, working.activity);
    if (!cluster.native) add_fabric(energy, cluster, working);
    return energy;
}

std::optional<double> held_J(const Cluster& cluster, double device_s, const Activity& activity) {
    if (!cluster.device.power && !cluster.host.power) return std::nullopt;
    Energy energy;
    energy.pue = cluster.pue;
    add_nodes(energy, cluster, device_s, device_s / static_cast<double>(cluster.node.devices), activity);
    return energy.total_J();
}

std::optional<Energy> energy_of(const Cluster& cluster, const TaskGraph& graph, const std::vector<LinkUse>& links,
                                const Breakdown& time) {
    if (!time.activity) return std::nullopt;
    std::set<std::uint32_t> nodes;
    for (const Process& process : graph.processes()) nodes.insert(process.place.node);
    return energy_of(cluster, {time.iteration_s, static_cast<std::int64_t>(nodes.size()), *nodes.rbegin() + 1,
                               *time.activity, links});
}

}  // namespace syncline
