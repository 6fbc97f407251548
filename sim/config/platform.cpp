#include "sim/config/files.hpp"

namespace syncline::config {

namespace {

constexpr QuantityRange bandwidths{.least = 1, .most = 1e18};
constexpr QuantityRange bandwidths_or_unlimited{
    .word = "unlimited", .word_value = unlimited, .least = bandwidths.least, .most = bandwidths.most};

void describe(Fields& fields, Calibration& calibration) {
    fields.integer({"batch", "Samples per iteration in that measurement.", true}, calibration.batch, 1, 1 << 24);
    fields.quantity({"throughput", "Samples per second of one device without any exchange: `219 images/s`.", true},
                    calibration.samples_per_s, Dimension::rate, {.least = 1e-6, .most = 1e12});
    fields.text({"source", "Who measured it, and how.", true}, calibration.source);
}

void describe(Fields& fields, Host& host) {
    fields.quantity(
        {"reduction_rate", "Bytes of one gradient that a parameter server adds to another per second: `10 GBps`."},
        host.reduction_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    fields.quantity({"loopback_bandwidth", "Between two processes of one node: `10 GBps`."}, host.loopback_Bps,
                    Dimension::bandwidth, bandwidths_or_unlimited);
}

void describe(Fields& fields, Fabric& fabric) {
    fields.one_of({"topology", "How the nodes are wired: `star` is one switch that never blocks."}, fabric.topology,
                  {{"star", Topology::star}});
    fields.quantity({"bandwidth", "Of one link, each direction: `25 Gbps`.", true}, fabric.bandwidth_Bps,
                    Dimension::bandwidth, bandwidths);
    fields.quantity({"latency", "Of one link; a message crosses two: `1 us`, or `none`.", true}, fabric.latency_s,
                    Dimension::seconds, {.word = "none", .most = 3600});
}

}  // namespace

void describe(Fields& fields, Device& device) {
    fields.text({"name", "Of this kind of device."}, device.name);
    fields.quantity({"flops", "Peak in the precision that trains: `10.6 Tflops`.", true}, device.flops_per_s,
                    Dimension::flops, {.least = 1, .most = 1e24});
    fields.quantity({"memory_bandwidth", "Of the device's memory: `732 GBps`.", true}, device.memory_Bps,
                    Dimension::bandwidth, bandwidths);
    fields.quantity({"host_link", "Host to device, one direction: `12 GBps`."}, device.host_link_Bps,
                    Dimension::bandwidth, bandwidths_or_unlimited);
    fields.quantity(
        {"reduction_rate",
         "Bytes of one gradient added to another per second; by default a third of `memory_bandwidth`, since an "
         "addition reads two elements and writes one."},
        device.reduction_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
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
                      "correction factors for TCP; `Constant`: latency alone."},
                     cluster.network,
                     {{"exact", NetworkModel::exact},
                      {"LV08", NetworkModel::LV08},
                      {"CM02", NetworkModel::CM02},
                      {"SMPI", NetworkModel::SMPI},
                      {"Constant", NetworkModel::Constant}});
    });
}

}  // namespace syncline::config
