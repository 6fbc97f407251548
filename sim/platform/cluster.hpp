#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/platform/efficiency.hpp"
#include "sim/platform/transport.hpp"
#include "sim/topology/router.hpp"
#include "sim/topology/shape.hpp"

/// The machine that trains: nodes with devices, links inside a node, network ports, and the fabric between nodes.
///
/// Left out: nodes that differ, failures, switches that block or delay.
namespace syncline {

/// "One device of this kind trains this model at this many samples per second", as somebody measured it.
struct Calibration {
    std::string workload;      ///< the model's name
    std::int64_t batch = 1;    ///< samples per iteration in that measurement
    double samples_per_s = 0;  ///< throughput of one device without any exchange
    std::string source;
};

/// "One device of this kind takes so long for each layer of this model."
struct MeasuredLayers {
    struct Layer {
        std::string name;
        double forward_s = 0, backward_s = 0;
    };

    std::string workload;    ///< the model's name
    std::int64_t batch = 1;  ///< samples at once in that measurement
    std::vector<Layer> layers;
    std::string source;
};

/// A rate that costs no time.
inline constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Device {
    std::string name = "device";
    double flops_per_s = 0;            ///< peak, in the precision that trains
    double memory_Bps = 0;             ///< bandwidth of the device's memory
    double memory_bytes = unlimited;   ///< how much it holds
    double kernel_latency_s = 0;       ///< no kernel takes less
    double host_link_Bps = unlimited;  ///< host to device, one direction
    double reduction_Bps = unlimited;  ///< 1/γ: bytes of one operand added to another per second
    /// What is left of its speed while one of its rank's exchanges is under way, waiting for peers included: kernels
    /// that exchange take multiprocessors and memory bandwidth from those that compute.
    double speed_beside_exchange = 1;
    std::vector<Calibration> calibration;  ///< a row for each workload and batch
    std::optional<EfficiencyCurve> efficiency;
    std::vector<MeasuredLayers> layer_times;
};

/// The node around the devices: where parameter servers live.
struct Host {
    double reduction_Bps = unlimited;  ///< 1/γ of a parameter server
    double loopback_Bps = unlimited;   ///< between a device and the host, and between processes on the same device
};

/// How the devices of a node are joined. `all_to_all`: every two by a link of their own (NVLink); `ring`: each with the
/// next, and messages to others go around; `crossbar`: all on one switch (NVSwitch); `pcie`: `devices_per_switch` on
/// each PCIe switch, and all of these on the host bridge.
enum class NodeLinks { all_to_all, ring, crossbar, pcie };

struct NodeDesign {
    std::int64_t devices = 1;
    std::optional<double> price_per_hour;  ///< in whatever currency; nothing: it is not said
    NodeLinks links = NodeLinks::crossbar;
    Wire link;  ///< each of them, each direction
    std::int64_t devices_per_switch = 2;
    /// Network ports. A device uses one of them, over a link of its own; with `pcie` the port hangs on the PCIe switch
    /// of the first device that uses it, and devices on other switches go over the host bridge.
    std::int64_t nics = 1;
    Wire nic_link{unlimited, 0};
    std::vector<std::int64_t> nic_of_device;  ///< empty: the first devices on the first port, and so on, evenly

    std::uint32_t nic(std::uint32_t device) const;
};

struct Fabric {
    TopologySpec topology;  ///< its hosts are the nodes' ports: node n has the hosts n·nics … n·nics + nics-1
    Routing routing;
};

/// How a message is priced. `exact` is the α-β model with max-min sharing and nothing added; `Constant` is its α alone,
/// whatever the size; the others are SimGrid's own, with the correction factors for TCP that they carry.
enum class NetworkModel { exact, LV08, CM02, SMPI, Constant };

/// A platform in SimGrid's own format, in place of nodes and fabric: each host is a node with one device.
struct NativePlatform {
    std::string file;
    std::vector<std::string> hosts;  ///< in the order in which nodes are numbered; empty: all, by name
};

struct Cluster {
    std::string name = "cluster";
    std::int64_t nodes = 0;
    Device device;
    Host host;
    NodeDesign node;
    Fabric fabric;
    NetworkModel network = NetworkModel::exact;
    Transport transport;
    std::optional<NativePlatform> native;
};

/// A star of `nodes` one-device nodes: every node hangs on one switch by a full-duplex link, so a message crosses two
/// and takes 2·latency + bytes/bandwidth when nothing shares them.
Cluster star_cluster(std::int64_t nodes, double bandwidth_Bps, double latency_s);

/// What the fabric's routes go by, where nobody says it: D-mod-k on fat trees, ecmp elsewhere.
Routing::Policy policy_of(const Fabric& fabric);

/// 1/γ of a collective's members: what the transport says, or that of the device or host that it names.
double reduction_Bps(const Cluster& cluster);

/// A fabric that is one switch, with one device per node: where the closed forms of collectives hold.
bool is_flat(const Cluster& cluster);

}  // namespace syncline
