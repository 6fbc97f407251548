#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/platform/efficiency.hpp"
#include "sim/platform/failures.hpp"
#include "sim/platform/faults.hpp"
#include "sim/platform/interference.hpp"
#include "sim/platform/kernel_rates.hpp"
#include "sim/platform/power.hpp"
#include "sim/platform/simgrid_file.hpp"
#include "sim/platform/transport.hpp"
#include "sim/topology/router.hpp"
#include "sim/topology/shape.hpp"

/// The machine that runs the training: nodes with devices, their links and ports, and the fabric between nodes. Nodes
/// may be of several kinds, which differ in their devices, prices and rates of links. Left out: nodes with different
/// numbers of devices or ports, switches that block or add delay.
namespace syncline {

/// Measured training throughput of one device of this kind for a model.
struct Calibration {
    std::string workload;      ///< the model's name
    std::int64_t batch = 1;    ///< samples per iteration in that measurement
    double samples_per_s = 0;  ///< throughput of one device without any exchange
    std::string source;
};

/// Measured time of each layer of a model on one device of this kind.
struct MeasuredLayers {
    struct Layer {
        std::string name;
        double forward_s = 0, backward_s = 0;
    };

    std::string workload;    ///< the model's name
    std::int64_t batch = 1;  ///< samples per pass in that measurement
    std::vector<Layer> layers;
    std::string source;
};

/// A rate that adds no time.
inline constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Device {
    std::string name = "device";
    double flops_per_s = 0;            ///< peak, in the precision that trains
    double memory_Bps = 0;             ///< bandwidth of the device's memory
    double memory_bytes = unlimited;   ///< capacity of that memory
    double reserve_bytes = 0;          ///< part of it that the driver's context and libraries use
    double kernel_latency_s = 0;       ///< minimum time of a kernel
    double host_link_Bps = unlimited;  ///< between host and device, in each direction
    double reduction_Bps = unlimited;  ///< 1/γ, the reduction rate: bytes of one operand added per second
    double speed = 1;                  ///< relative speed of all computation
    std::int64_t multiprocessors = 0;  ///< streaming multiprocessors (SMs) of a GPU; 0: not given
    std::optional<DevicePower> power;
    SpeedBesideExchange speed_beside_exchange;
    std::vector<Calibration> calibration;  ///< one row for each workload and batch
    std::optional<EfficiencyCurve> efficiency;
    std::optional<KernelRates> kernels;
    std::vector<MeasuredLayers> layer_times;
};

/// The node's host processor and memory, which run parameter servers and keep offloaded state.
struct Host {
    double reduction_Bps = unlimited;  ///< 1/γ of a parameter server
    double loopback_Bps = unlimited;   ///< between a device and the host, and between processes on the same device
    double memory_Bps = unlimited;     ///< of the node's memory, which its ranks share
    std::optional<Power> power;        ///< of all in the node but its devices
};

/// Links between the devices of a node: one for every pair (NVLink); `ring`: to the next device, also for others'
/// messages; `crossbar`: one switch (NVSwitch); `pcie`: `devices_per_switch` on each PCIe switch, all of these on the
/// host bridge; `mesh`: listed pairs.
enum class NodeLinks { all_to_all, ring, crossbar, pcie, mesh };

/// Two devices of a mesh, a < b, and the number of parallel links between them. Hardware spreads the traffic of a pair
/// over its parallel links, so they are one link with the sum of their bandwidths.
struct DevicePair {
    std::uint32_t a = 0, b = 1;
    std::uint32_t links = 1;
};

struct NodeDesign {
    std::int64_t devices = 1;
    std::optional<double> price_per_hour;  ///< in any currency; nothing: not given
    NodeLinks links = NodeLinks::crossbar;
    Wire link;                    ///< of each link, in each direction
    bool switch_reduces = false;  ///< the crossbar adds up data on its way (NVLS)
    std::int64_t devices_per_switch = 2;
    std::vector<DevicePair> pairs;  ///< of a mesh
    /// PCIe of a node with a mesh, for pairs without a link and for the ports. Without it, devices between the two
    /// forward their messages.
    std::optional<Wire> mesh_pcie;
    /// Network ports. A device uses one of them, over a link of its own; with PCIe the port is attached to the PCIe
    /// switch of the first device that uses it, and devices on other switches reach it over the host bridge.
    std::int64_t nics = 1;
    Wire nic_link{unlimited, 0};
    std::vector<std::int64_t> nic_of_device;  ///< empty: divided evenly, the first devices on the first port

    std::uint32_t nic(std::uint32_t device) const;
    /// Returns true if the node has PCIe switches below a host bridge.
    bool has_pcie() const { return links == NodeLinks::pcie || (links == NodeLinks::mesh && mesh_pcie); }
    /// Returns the wire between a device and its PCIe switch, and between that and the host bridge.
    const Wire& pcie_wire() const { return links == NodeLinks::mesh && mesh_pcie ? *mesh_pcie : link; }
};

/// Nodes of another kind. All else of them is as in the nodes of NodeDesign.
struct OtherNodes {
    std::int64_t count = 0;
    Device device;
    std::optional<double> link_Bps;  ///< of each of NodeDesign's links inside the node; nothing: as there
    std::optional<double> port_Bps;  ///< between a device and its port; nothing: as there
    std::optional<double> price_per_hour;
};

struct Fabric {
    TopologySpec topology;  ///< its hosts are the nodes' ports: node n has hosts n·nics … n·nics + nics-1
    Routing routing;
    bool reduces = false;  ///< its switches add up data on its way (SHARP)
    /// Of each switch, and of each port: an end of a cable, with its transceiver.
    std::optional<FabricPower> switch_power, port_power;
};

/// Cost model of a message. `exact` is the α-β model with max-min sharing; `Constant` is its α alone, independent of
/// the size; the others are SimGrid's own, with the correction factors for TCP that they include.
enum class NetworkModel { exact, LV08, CM02, SMPI, Constant };

/// Who waits for a message's latency: the receiver (`travelling`, as in LogGP), or also the sender and the receiver's
/// next message (`blocking`, the α-β model of textbooks, SimGrid's network models and platforms).
enum class Latency { travelling, blocking };

/// A platform in SimGrid's own format that replaces nodes and fabric: each host is a node with one device.
struct NativePlatform {
    std::string file;
    SimGridFile content;
    std::vector<std::string> hosts;  ///< in the order of the nodes' numbers; empty: all, by name
};

struct Cluster {
    std::string name = "cluster";
    std::int64_t nodes = 0;         ///< of all kinds: first those with `device`, then the others in order
    std::int64_t server_nodes = 0;  ///< further nodes, for servers alone, of a cluster of as many nodes as needed
    Device device;
    Host host;
    NodeDesign node;
    std::vector<OtherNodes> others = {};
    Fabric fabric;
    NetworkModel network = NetworkModel::exact;
    Latency latency = Latency::travelling;
    Transport transport;
    PartFailures failures = {};
    Storage storage = {};
    std::vector<Fault> faults = {};  ///< during the simulation
    std::optional<NativePlatform> native;
    std::optional<double> pue;  ///< power usage effectiveness: energy of the facility by that of its equipment

    /// Returns the number of nodes that the fabric connects; a star connects only those in use.
    std::int64_t fabric_nodes() const { return nodes + server_nodes; }
    /// Returns true if the power of any part is known.
    bool has_power() const;

    /// Returns the number of kinds of nodes.
    std::size_t kinds() const { return 1 + others.size(); }
    /// Returns the kind of a node: 0, or the number of its entry in `others`, counted from 1.
    std::size_t kind_of(std::uint32_t node) const;
    const Device& device_of(std::size_t kind) const { return kind == 0 ? device : others[kind - 1].device; }
    Device& device_of(std::size_t kind) { return kind == 0 ? device : others[kind - 1].device; }
    const std::optional<double>& price_of(std::size_t kind) const {
        return kind == 0 ? node.price_per_hour : others[kind - 1].price_per_hour;
    }
    /// Returns the number of nodes of the first kind.
    std::int64_t own_nodes() const;
};

/// Returns a star of `nodes` one-device nodes: every node has a full-duplex link to one switch, so a message crosses
/// two links and takes 2·latency + bytes/bandwidth when nothing shares them.
Cluster star_cluster(std::int64_t nodes, double bandwidth_Bps, double latency_s);

/// Returns true if streams wait for messages' latency; otherwise SimGrid's network model adds it.
constexpr bool latency_is_ours(NetworkModel model) {
    return model == NetworkModel::exact || model == NetworkModel::Constant;
}

/// Returns true if latency travels on this cluster.
bool latency_travels(const Cluster& cluster);

/// Returns the fabric's routing policy, or the default: D-mod-k on fat trees, ecmp elsewhere.
Routing::Policy policy_of(const Fabric& fabric);

/// Returns true if a message from a device to one of another node and rail (with another port) goes over the links of
/// its node to the device with the receiver's number, whose port sends it on the receiver's rail: NCCL's PXN
/// (`NCCL_P2P_PXN_LEVEL=2`, its default since 2.12; NVIDIA/nccl, src/graph/search.cc, ncclTopoGetNetDev). Default: on a
/// fabric of rails with a transport in NCCL's channels, as far as devices are linked directly or by a switch. With
/// several devices on a port those on the receiver's port send themselves. Left out: the copy into the buffer of that
/// device, NCCL's restriction to messages between pairs (its rings and trees seldom change rails).
bool relays_on_rails(const Cluster& cluster);

/// Returns true if a device reaches any device of other nodes on a fabric of rails that no spines join: all devices use
/// the same port, or messages can change rails inside a node.
bool reaches_all_rails(const Cluster& cluster);

/// Returns 1/γ of a collective's members: the transport's rate, or that of the device or host that it names. Members
/// that reduce wait for each other, so that the slowest of several kinds of devices counts.
double reduction_Bps(const Cluster& cluster);

/// Returns the speed of computation beside exchanges: the device's if it was measured; otherwise 1 -
/// taken/multiprocessors, if the device says how many it has and the transport how many exchanges take, since thread
/// blocks of NCCL share none with other kernels (NVIDIA/nccl, issue 689).
SpeedBesideExchange speed_beside_exchange(const Cluster& cluster, std::size_t kind = 0);
/// Returns whether that of any kind of nodes is below 1.
bool slows_beside_exchange(const Cluster& cluster);

/// Returns true for a fabric of one switch with one device per node, for which the closed forms of collectives are
/// exact.
bool is_flat(const Cluster& cluster);

}  // namespace syncline
