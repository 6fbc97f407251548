#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "sim/base/diagnostics.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/platform_parts.hpp"

namespace syncline::config {

namespace {

void describe(Fields& fields, Host& host) {
    fields.quantity(
        {"reduction_rate",
         "Reduction rate of a parameter server: bytes of one gradient added to another per second, `10 GBps`. "
         "With `unlimited` additions take no time."},
        host.reduction_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    fields.quantity({"loopback_bandwidth", "Bandwidth between two processes of one node: `10 GBps`."},
                    host.loopback_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    fields.quantity({"memory_bandwidth",
                     "Bandwidth of the node's memory, which its ranks share: `200 GBps`. `training.offload` needs it."},
                    host.memory_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    describe_power(fields, host.power);
}

/// Returns whether the shape's parameters determine the number of hosts.
bool is_sized(const TopologySpec& spec) {
    const bool grouped = !spec.levels.empty() && spec.levels.back().size > 0;
    return spec.hosts > 0 || spec.depth > 0 || spec.ports > 0 || spec.hosts_per_router > 0 || grouped ||
           !spec.dimensions.empty() || !spec.down.empty() || !spec.edges.empty();
}

/// Returns the names of the first cables that have no bandwidth, if others have one.
std::string without_bandwidth(const std::vector<UserEdge>& edges) {
    constexpr std::size_t most = 3;
    std::string names;
    std::size_t missing = 0;
    for (const UserEdge& edge : edges) {
        if (edge.wire.bandwidth_Bps > 0) continue;
        if (missing++ < most) names += fmt::format("{} {} -- {}", missing == 1 ? ":" : ",", edge.from, edge.to);
    }
    if (missing == edges.size()) return "";
    return missing > most ? fmt::format("{} and {} others have none", names, missing - most)
                          : names + (missing > 1 ? " have none" : " has none");
}

void describe_fabric(Fields& fields, TopologySpec& spec) {
    describe(fields, spec);
    if (!fields.sound()) return;
    // A user's own graph may give the bandwidth of every cable.
    const bool own = std::all_of(spec.edges.begin(), spec.edges.end(),
                                 [](const UserEdge& edge) { return edge.wire.bandwidth_Bps > 0; });
    if (spec.bandwidth_Bps.empty() && (spec.edges.empty() || !own))
        return fields.reject("bandwidth",
                             "a fabric needs the 'bandwidth' of its cables" + without_bandwidth(spec.edges),
                             spec.shape == Shape::graph ? "`{topology: graph, file: …, bandwidth: 25 Gbps}`, or the "
                                                          "attribute `bandwidth` of every edge of the file"
                                                        : "`bandwidth: 25 Gbps`");
    if (spec.latency_s.empty()) {
        if (spec.edges.empty())
            return fields.reject("latency", "a fabric needs the 'latency' of its cables", "`latency: 1 us`, or `none`");
        spec.latency_s = {0};
    }
}

/// Rejects a fabric without a port for every port of the nodes. If neither the file nor the fabric's parameters give
/// the number of nodes, `nodes` stays 0: as many as needed.
void fit(Fields& fields, Cluster& cluster) {
    TopologySpec& spec = cluster.fabric.topology;
    if (spec.rails == 0) spec.rails = cluster.node.nics;
    if (spec.shape == Shape::rails && spec.rails != cluster.node.nics)
        return fields.reject("rails", fmt::format("{} rails for nodes with {} ports", spec.rails, cluster.node.nics),
                             "each port of a node is on its own rail; see `per_node.nics`");
    // A star is built for the nodes in use, so any number of nodes fits.
    const bool open = spec.shape == Shape::star && spec.hosts == 0;
    if (cluster.nodes == 0 && !is_sized(spec) && !open) return;
    const auto topology = build(fields, spec, Use::fabric, open ? 1 : cluster.nodes * cluster.node.nics);
    if (!topology || cluster.nodes > 0 || open) return;
    cluster.nodes = topology->hosts / cluster.node.nics;
    if (cluster.nodes == 0)
        fields.reject(
            "", fmt::format("{} hosts are too few for a node with {} ports", topology->hosts, cluster.node.nics), "");
}

void describe_affinity(Fields& fields, NodeDesign& node) {
    fields.integer_list(
        {"affinity",
         "Network port that each device uses. Default: the devices are divided evenly among the ports, in order."},
        node.nic_of_device, 0);
    if (node.nic_of_device.empty() || !fields.sound()) return;
    if (node.nic_of_device.size() != static_cast<std::size_t>(node.devices))
        return fields.reject(
            "affinity", fmt::format("'affinity' has {} ports for {} devices", node.nic_of_device.size(), node.devices),
            "give one port for each device");
    const std::int64_t largest = *std::max_element(node.nic_of_device.begin(), node.nic_of_device.end());
    if (largest >= node.nics)
        fields.reject("affinity", fmt::format("there is no port {}", largest),
                      fmt::format("there are {}: 0 to {}", node.nics, node.nics - 1));
}

void describe(Fields& fields, NodeDesign& node) {
    fields.integer({"devices", "Number of devices in each node."}, node.devices, 1, 256);
    fields.section({"links", "Links between the devices of a node."}, [&](Fields& inner) {
        inner.one_of({"pattern",
                      "Pattern of the links: `all-to-all` (NVLink), `ring` (to the next device), `switch` (NVSwitch), "
                      "`pcie` (PCIe switches below the host bridge), or `mesh` (listed pairs: DGX-1).",
                      true},
                     node.links,
                     {{"all-to-all", NodeLinks::all_to_all},
                      {"ring", NodeLinks::ring},
                      {"switch", NodeLinks::crossbar},
                      {"pcie", NodeLinks::pcie},
                      {"mesh", NodeLinks::mesh}});
        inner.quantity({"bandwidth", "Bandwidth of each link in each direction: `25 GBps`.", true},
                       node.link.bandwidth_Bps, Dimension::bandwidth, bandwidths);
        inner.quantity({"latency", "Latency of each link: `1 us`, or `none`.", true}, node.link.latency_s,
                       Dimension::seconds, {.word = "none", .most = 3600});
        inner.flag(
            {"reduces", "Reduction of data in the switch (NVLS), for the algorithm `in-network`. Applies to `switch`."},
            node.switch_reduces);
        if (inner.given("reduces") && node.links != NodeLinks::crossbar)
            inner.reject("reduces", "'reduces' has no effect here", "remove it, or write `pattern: switch`");
        describe_mesh(inner, node);
    });
    if (node.devices > 1 && fields.sound() && !fields.given("links"))
        fields.reject("links", fmt::format("{} devices in a node need 'links'", node.devices),
                      "`links: {pattern: all-to-all, bandwidth: 25 GBps, latency: 1 us}`");
    fields.integer({"nics", "Number of network ports of each node."}, node.nics, 1, 256);
    fields.section({"nic_link",
                    "Link from a device to its network port; with PCIe from the PCIe switch of the first device that "
                    "uses the port. Default: it costs nothing."},
                   [&](Fields& inner) {
                       inner.quantity({"bandwidth", "Bandwidth in each direction: `12 GBps`.", true},
                                      node.nic_link.bandwidth_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
                       inner.quantity({"latency", "Latency: `1 us`, or `none`."}, node.nic_link.latency_s,
                                      Dimension::seconds, {.word = "none", .most = 3600});
                   });
    describe_affinity(fields, node);
    fields.number(
        {"price_per_hour", "Price of a node per hour, in any currency: `12.24`. Used for the `cost` of results."},
        node.price_per_hour, 0, 1e9);
}

void describe(Fields& fields, Cluster& cluster, Routing& routing) {
    using Policy = Routing::Policy;
    fields.one_of(
        {"shortest",
         "Order that defines the shortest path: by latency, then hops (`latency`), or by hops, then latency (`hops`)."},
        routing.shortest, {{"latency", Routing::Shortest::latency}, {"hops", Routing::Shortest::hops}});
    const bool levels = cluster.fabric.topology.shape == Shape::fat_tree;
    Policy policy = levels ? Policy::d_mod_k : Policy::ecmp;
    fields.one_of({"policy",
                   "Choice of paths: `d-mod-k` (destination), `ecmp` (hash), `first`, `adaptive-at-start`, `spray` (by "
                   "packet); on dragonflies `valiant`, `ugal`. Default: `d-mod-k` on fat trees, else `ecmp`."},
                  policy,
                  {{"d-mod-k", Policy::d_mod_k},
                   {"ecmp", Policy::ecmp},
                   {"first", Policy::first},
                   {"adaptive-at-start", Policy::adaptive_at_start},
                   {"valiant", Policy::valiant},
                   {"ugal", Policy::ugal},
                   {"spray", Policy::spray}});
    if (!fields.given("policy")) return;
    const Shape shape = cluster.fabric.topology.shape;
    const auto need = [&](const char* what) {
        fields.reject(
            "policy",
            fmt::format("'{}' needs a {}, but the fabric is a {}", policy_name(policy), what, shape_name(shape)),
            "`policy: ecmp`");
    };
    if (policy == Policy::d_mod_k && !levels) return need("fat tree");
    if (takes_detours(policy) && shape != Shape::dragonfly) return need("dragonfly");
    if ((depends_on_load(policy) || policy == Policy::spray) && cluster.network != NetworkModel::exact)
        return fields.reject("policy", fmt::format("'{}' needs the network model 'exact'", policy_name(policy)),
                             "`policy: ecmp`");
    routing.policy = policy;
}

void describe(Fields& fields, PartFailures& failures) {
    const auto part = [&](const Key& key, std::optional<double>& mtbf_s) {
        fields.quantity(key, mtbf_s, Dimension::seconds, {.least = 1, .most = 1e13});
    };
    part({"device", "Mean time between failures of one device: `2000 d`."}, failures.device_s);
    part({"node",
          "Mean time between failures of one node, with all that is in it: `264 d`. A rate of r per 1,000 node-days is "
          "1000/r days."},
         failures.node_s);
    part({"switch", "Mean time between failures of one switch of the fabric: `59700 d`."}, failures.switch_s);
    part({"link", "Mean time between failures of one cable of the fabric: `53400 d`."}, failures.link_s);
}

/// Describes the nodes of other kinds, which follow those of `nodes`.
void describe_others(Fields& fields, Cluster& cluster) {
    fields.each(
        {"other_nodes",
         "Nodes of other kinds, after those of `nodes`, in order, with as many devices and ports; `nodes` is required. "
         "Default: all nodes are alike."},
        [&](Fields& inner) {
            OtherNodes other;
            const NodeDesign& node = cluster.node;
            inner.integer({"count", "Number of these nodes; 0: none.", true}, other.count, 0, 1 << 24);
            inner.section({"device", "Device in each of these nodes: as for the platform.", true, true},
                          [&](Fields& of) { describe(of, other.device); });
            inner.quantity({"link_bandwidth",
                            "Bandwidth of each of the node's links in each direction: `300 GBps`. Default: that of "
                            "`per_node.links`."},
                           other.link_Bps, Dimension::bandwidth, bandwidths);
            inner.quantity({"port_bandwidth",
                            "Bandwidth between a device and its network port in each direction: `200 Gbps`. Default: "
                            "that of `per_node.nic_link`."},
                           other.port_Bps, Dimension::bandwidth, bandwidths);
            inner.number({"price_per_hour", "Price of one of these nodes per hour, as `per_node.price_per_hour`."},
                         other.price_per_hour, 0, 1e9);
            if (inner.given("link_bandwidth") && node.devices == 1)
                inner.reject("link_bandwidth", "'link_bandwidth' has no effect here: each node has one device",
                             "remove it");
            if (other.count > 0) cluster.others.push_back(std::move(other));
        });
    if (cluster.others.empty() || !fields.sound()) return;
    if (!fields.given("nodes"))
        return fields.reject("other_nodes", "it is open how many nodes come before these",
                             "write `nodes`, the number of nodes with the platform's `device`");
    for (const OtherNodes& other : cluster.others) cluster.nodes += other.count;
    constexpr std::int64_t most = 1 << 24;
    if (cluster.nodes > most)
        fields.reject("other_nodes", fmt::format("{} nodes are too many", cluster.nodes),
                      fmt::format("the maximum is {}", most));
}

/// Rejects a transport that takes all multiprocessors of a device.
void check_multiprocessors(Fields& fields, const Cluster& cluster) {
    const auto& [collective, point_to_point] = cluster.transport.exchange_multiprocessors.of;
    const std::int64_t taken = std::max(collective, point_to_point);
    std::int64_t all = cluster.device.multiprocessors;
    for (const OtherNodes& other : cluster.others)
        if (const std::int64_t own = other.device.multiprocessors; own > 0) all = all > 0 ? std::min(all, own) : own;
    if (all == 0 || taken < all || !fields.sound()) return;
    fields.section({"transport", ""}, [&](Fields& inner) {
        inner.reject("exchange_multiprocessors",
                     fmt::format("exchanges that take {} of the device's {} multiprocessors leave none for computation",
                                 taken, all),
                     fmt::format("write at most {}", all - 1));
    });
}

/// Reads the keys of a platform in SimGrid's format. Its file defines what `nodes`, `per_node`, `fabric` and `routing`
/// define otherwise.
void describe_native(Fields& fields, Cluster& cluster) {
    NativePlatform native;
    fields.texts({"hosts", "Hosts of `simgrid_xml` that are nodes, in order. Default: all hosts that are on, by name."},
                 native.hosts);
    fields.file(
        {"simgrid_xml",
         "Platform in SimGrid's own format; replaces `nodes` and `fabric`. Each host is a node with one device."},
        [&](const std::string& path, const std::string& text, const Fields::Beside& beside) {
            native.file = path;
            native.content = check_simgrid_file(path, text, beside);
            if (native.content.warning) warn(*native.content.warning);
        });
    if (!fields.given("simgrid_xml")) {
        if (fields.given("hosts"))
            fields.reject("hosts", "'hosts' has no effect here",
                          "it applies to `simgrid_xml`; `nodes` gives the number of nodes");
        return;
    }
    for (const char* key : {"nodes", "other_nodes", "per_node", "fabric", "routing"})
        if (fields.given(key))
            fields.reject(key, fmt::format("'{}' is defined by the file of 'simgrid_xml'", key),
                          "remove one of the two");
    if (!fields.sound()) return;
    std::set<std::string> names;
    for (const std::string& name : native.hosts)
        if (!names.insert(name).second) fields.reject("hosts", fmt::format("host '{}' is listed twice", name), "");
    // This is provisional: `Inspect` counts the hosts of the file.
    cluster.nodes = native.hosts.empty() ? 1 << 24 : static_cast<std::int64_t>(native.hosts.size());
    cluster.native = std::move(native);
}

}  // namespace

void describe(Fields& fields, Cluster& cluster) {
    fields.text({"name", "Name shown in messages and results."}, cluster.name);
    // A platform in SimGrid's format computes at the speed of its slowest host.
    if (fields.given("simgrid_xml")) cluster.device.memory_Bps = unlimited;
    fields.section({"device", "Device in each node: its keys, its file, or the name of one in platforms/devices/.",
                    false, true, "simgrid_xml"},
                   [&](Fields& inner) { describe(inner, cluster.device); });
    fields.section({"host", "Node around the device, where parameter servers run."},
                   [&](Fields& inner) { describe(inner, cluster.host); });
    fields.section({"per_node", "Contents of each node. Default: one device and one port."},
                   [&](Fields& inner) { describe(inner, cluster.node); });
    fields.section(
        {.name = "fabric",
         .doc = "Network between nodes, whose ports are its hosts, node by node: a shape, the keys of a topology, its "
                "file or name. Not needed with `nodes: 1`.",
         .file = true,
         .unless = {"simgrid_xml", "nodes"}},
        [&](Fields& inner) {
            inner.flag({"reduces", "Reduction of data in the switches (SHARP), for the algorithm `in-network`."},
                       cluster.fabric.reduces);
            describe_power(inner, cluster.fabric);
            describe_fabric(inner, cluster.fabric.topology);
        });
    fields.integer(
        {"nodes", "Number of nodes. Default: as many as the fabric's parameters determine, or else as many as needed."},
        cluster.nodes, 1, 1 << 24);
    describe_others(fields, cluster);
    if (fields.given("fabric") && fields.sound())
        fields.section({"fabric", ""}, [&](Fields& inner) { fit(inner, cluster); });
    if (!fields.given("fabric") && !fields.given("simgrid_xml") && fields.given("nodes")) {
        if (cluster.nodes > 1)
            fields.reject("nodes", fmt::format("{} nodes need a 'fabric'", cluster.nodes),
                          "`fabric: {topology: star, bandwidth: 400 Gbps, latency: 1 us}`");
        cluster.fabric.topology.bandwidth_Bps = {most_bandwidth_Bps};
        cluster.fabric.topology.latency_s = {0};
    }
    fields.number(
        {"pue",
         "Power usage effectiveness: energy of the whole facility, with cooling and conversion, by that of the "
         "equipment: `1.1`. Default: 1."},
        cluster.pue, 1, 10);
    fields.section({"network", "Model of the network."}, [&](Fields& inner) {
        inner.one_of({"model",
                      "Network model: latency + bytes/bandwidth, shared fairly (`exact`), latency alone (`Constant`), "
                      "or SimGrid's with TCP factors (`LV08`, `CM02`, `SMPI`)."},
                     cluster.network,
                     {{"exact", NetworkModel::exact},
                      {"LV08", NetworkModel::LV08},
                      {"CM02", NetworkModel::CM02},
                      {"SMPI", NetworkModel::SMPI},
                      {"Constant", NetworkModel::Constant}});
        Latency latency = cluster.latency;
        inner.one_of({"latency",
                      "Latency of a message: the receiver alone waits for it (`travelling`: LogGP), or also the sender "
                      "and the next message (`blocking`: α-β model, SimGrid). Default: `travelling`."},
                     latency, {{"travelling", Latency::travelling}, {"blocking", Latency::blocking}});
        if (inner.given("latency") && latency == Latency::travelling && !latency_is_ours(cluster.network))
            return inner.reject("latency", "with SimGrid's network models latency blocks", "`latency: blocking`");
        cluster.latency = latency;
    });
    fields.section({"routing", "Routing of messages through the fabric."},
                   [&](Fields& inner) { describe(inner, cluster, cluster.fabric.routing); });
    fields.section({"transport",
                    "Costs that software adds to links (overheads, copies, limits): their keys, their file, or the "
                    "name of one in platforms/transports/. Default: no such costs.",
                    false, true},
                   [&](Fields& inner) { describe(inner, cluster.transport); });
    fields.section({"failures",
                    "Mean time between failures of each part, which stop the jobs that use it: see `training.run`. "
                    "Default: nothing fails."},
                   [&](Fields& inner) { describe(inner, cluster.failures); });
    fields.section(
        {"storage", "Storage that all nodes share, for the checkpoints of `training.run` and for `training.loading`."},
        [&](Fields& inner) {
            inner.quantity({"write_bandwidth", "Bandwidth at which all nodes of a job together write: `2 TBps`."},
                           cluster.storage.write_Bps, Dimension::bandwidth, bandwidths);
            inner.quantity({"read_bandwidth", "Bandwidth at which all nodes of a job together read: `2 TBps`."},
                           cluster.storage.read_Bps, Dimension::bandwidth, bandwidths);
            inner.quantity({"node_bandwidth", "Maximum bandwidth at which one node reads. Default: no such limit."},
                           cluster.storage.node_Bps, Dimension::bandwidth, bandwidths);
        });
    check_multiprocessors(fields, cluster);
    describe_faults(fields, cluster);
    describe_native(fields, cluster);
    if (cluster.native && cluster.failures.of_fabric())
        fields.section({"failures", ""}, [&](Fields& inner) {
            inner.reject(cluster.failures.link_s ? "link" : "switch",
                         "it is unknown which parts of a platform in SimGrid's format a job uses", "write `node`");
        });
    if (cluster.native)
        fields.section({"network", ""}, [&](Fields& inner) {
            if (inner.given("latency") && cluster.latency == Latency::travelling)
                inner.reject("latency", "on a platform in SimGrid's format latency blocks", "`latency: blocking`");
        });
    if (cluster.transport.has_protocols() && (cluster.native || !latency_is_ours(cluster.network)))
        fields.section({"transport", ""}, [](Fields& inner) {
            const bool inside = !inner.given("eager");  // it is under `inside_node`
            inner.reject(inside ? "inside_node" : "eager",
                         "'eager' has no effect with SimGrid's network models and platforms in its format",
                         "remove it, or write `network: exact` and a fabric");
        });
    if (cluster.native && cluster.transport.host_Bps != unlimited)
        fields.section({"transport", ""}, [](Fields& inner) {
            inner.reject("host_bandwidth", "'host_bandwidth' has no effect with 'simgrid_xml'",
                         "remove it; that file gives the bandwidth of each host's link");
        });
}

void describe(Fields& fields, Cluster& cluster, const Inspect& inspect) {
    describe(fields, cluster);
    if (!cluster.native || !fields.sound() || !inspect) return;
    try {
        inspect(cluster);
    } catch (const std::runtime_error& error) {
        fields.reject("simgrid_xml", error.what(), "");
    }
}

}  // namespace syncline::config
