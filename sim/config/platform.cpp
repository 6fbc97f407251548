#include <fmt/format.h>

#include <cmath>
#include <string>

#include "sim/config/files.hpp"

namespace syncline::config {

namespace {

constexpr QuantityRange or_unlimited{false, "unlimited", unlimited};

/// Values that no machine has come from a slip of the unit, and would let simulated time overflow.
void require_range(Fields& fields, const char* key, double value, double least, double most, Dimension dimension) {
    if (!fields.given(key) || !std::isfinite(value) || (value >= least && value <= most)) return;
    fields.reject(key, fmt::format("'{}': {} is out of range", key, format_quantity(value, dimension)),
                  fmt::format("from {} to {}", format_quantity(least, dimension), format_quantity(most, dimension)));
}

void bandwidth(Fields& fields, Key key, double& value, QuantityRange range = {}) {
    fields.quantity(key, value, Dimension::bandwidth, range);
    require_range(fields, key.name, value, 1, 1e18, Dimension::bandwidth);
}

void describe(Fields& fields, Calibration& calibration) {
    fields.integer({"batch", "Samples per iteration in that measurement.", true}, calibration.batch, 1, 1 << 24);
    fields.quantity({"throughput", "Samples per second of one device without any exchange: `219 images/s`.", true},
                    calibration.samples_per_s, Dimension::rate);
    require_range(fields, "throughput", calibration.samples_per_s, 1e-6, 1e12, Dimension::rate);
    fields.text({"source", "Who measured it, and how.", true}, calibration.source);
}

void describe(Fields& fields, Host& host) {
    bandwidth(
        fields,
        {"reduction_rate", "Bytes of one gradient that a parameter server adds to another per second: `10 GBps`."},
        host.reduction_Bps, or_unlimited);
    bandwidth(fields, {"loopback_bandwidth", "Between two processes of one node: `10 GBps`."}, host.loopback_Bps,
              or_unlimited);
}

void describe(Fields& fields, Fabric& fabric) {
    fields.one_of({"topology", "How the nodes are wired: `star` is one switch that never blocks."}, fabric.topology,
                  {{"star", Topology::star}});
    bandwidth(fields, {"bandwidth", "Of one link, each direction: `25 Gbps`.", true}, fabric.bandwidth_Bps);
    fields.quantity({"latency", "Of one link; a message crosses two: `1 us`, or `none`.", true}, fabric.latency_s,
                    Dimension::seconds, {.word = "none"});
    require_range(fields, "latency", fabric.latency_s, 0, 3600, Dimension::seconds);
}

}  // namespace

void describe(Fields& fields, Device& device) {
    fields.text({"name", "Of this kind of device."}, device.name);
    fields.quantity({"flops", "Peak in the precision that trains: `10.6 Tflops`.", true}, device.flops_per_s,
                    Dimension::flops);
    require_range(fields, "flops", device.flops_per_s, 1, 1e24, Dimension::flops);
    bandwidth(fields, {"memory_bandwidth", "Of the device's memory: `732 GBps`.", true}, device.memory_Bps);
    bandwidth(fields, {"host_link", "Host to device, one direction: `12 GBps`."}, device.host_link_Bps, or_unlimited);
    bandwidth(fields,
              {"reduction_rate",
               "Bytes of one gradient added to another per second; by default a third of `memory_bandwidth`, since an "
               "addition reads two elements and writes one."},
              device.reduction_Bps, or_unlimited);
    if (!fields.given("reduction_rate")) device.reduction_Bps = device.memory_Bps / 3;
    fields.named({"calibration", "From a workload's name to what one device was measured to do with it."},
                 [&](const std::string& workload, Fields& entry) {
                     Calibration calibration;
                     calibration.workload = workload;
                     describe(entry, calibration);
                     device.calibration.push_back(calibration);
                 });
}

void describe(Fields& fields, Cluster& cluster) {
    fields.text({"name", "Shown in messages and results."}, cluster.name);
    fields.integer({"nodes", "How many there are, each with one device; only those that are used cost anything.", true},
                   cluster.nodes, 1, 1 << 24);
    fields.section({"device", "What computes in each node, or the name of a file that says it.", true, true},
                   [&](Fields& inner) { describe(inner, cluster.device); });
    fields.section({"host", "The node around the device: where parameter servers live."},
                   [&](Fields& inner) { describe(inner, cluster.host); });
    fields.section({"fabric", "The network between nodes.", true},
                   [&](Fields& inner) { describe(inner, cluster.fabric); });
    fields.section({"network", "How SimGrid prices a message."}, [&](Fields& inner) {
        inner.one_of({"model",
                      "`exact`: latency + bytes/bandwidth, shared fairly; the others are SimGrid's own, with their "
                      "correction factors for TCP."},
                     cluster.network,
                     {{"exact", NetworkModel::exact},
                      {"LV08", NetworkModel::LV08},
                      {"CM02", NetworkModel::CM02},
                      {"SMPI", NetworkModel::SMPI},
                      {"Constant", NetworkModel::Constant}});
    });
}

}  // namespace syncline::config
