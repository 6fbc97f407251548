#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// The machine that trains: nodes with one device each, on one switch.
///
/// A fabric is a star: every node hangs on the switch by one full-duplex link, so a message crosses two links, out of
/// the sender's node and into the receiver's, and takes 2·latency + bytes/bandwidth when nothing shares them. The
/// switch itself neither blocks nor delays. Left out: several devices in a node, other fabrics, failures.
namespace syncline {

/// "One device of this kind trains this model at this many samples per second", as somebody measured it.
struct Calibration {
    std::string workload;      ///< the model's name
    std::int64_t batch = 1;    ///< samples per iteration in that measurement
    double samples_per_s = 0;  ///< throughput of one device without any exchange
    std::string source;
};

/// A rate that costs no time.
inline constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Device {
    std::string name = "device";
    double flops_per_s = 0;            ///< peak, in the precision that trains
    double memory_Bps = 0;             ///< bandwidth of the device's memory
    double host_link_Bps = unlimited;  ///< host to device, one direction
    double reduction_Bps = unlimited;  ///< 1/γ: bytes of one operand added to another per second
    std::vector<Calibration> calibration;
};

/// The node around the device: where parameter servers live.
struct Host {
    double reduction_Bps = unlimited;  ///< 1/γ of a parameter server
    double loopback_Bps = unlimited;   ///< between two processes of one node
};

enum class Topology { star };

struct Fabric {
    Topology topology = Topology::star;
    double bandwidth_Bps = 0;  ///< of one link, each direction
    double latency_s = 0;      ///< of one link; a message crosses two
};

/// How a message is priced. `exact` is the α-β model with max-min sharing and nothing added; `Constant` is its α alone,
/// whatever the size; the others are SimGrid's own, with the correction factors for TCP that they carry.
enum class NetworkModel { exact, LV08, CM02, SMPI, Constant };

struct Cluster {
    std::string name = "cluster";
    std::int64_t nodes = 0;
    Device device;
    Host host;
    Fabric fabric;
    NetworkModel network = NetworkModel::exact;

    /// α: seconds that a message of no bytes takes between two nodes.
    double route_latency_s() const;
};

}  // namespace syncline
