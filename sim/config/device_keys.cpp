#include <fmt/format.h>

#include <string>

#include "sim/config/file_kinds.hpp"
#include "sim/config/platform_parts.hpp"

namespace syncline::config {

namespace {

constexpr std::int64_t largest_batch = 1 << 24;
/// Maximum time of one kernel or one layer; hours are a wrong unit.
constexpr double longest_s = 3600;

void describe(Fields& fields, Calibration& calibration) {
    fields.integer({"batch", "Batch of that measurement: samples per iteration.", true}, calibration.batch, 1,
                   largest_batch);
    fields.quantity({"throughput", "Throughput of one device without any exchange: `219 images/s`.", true},
                    calibration.samples_per_s, Dimension::rate, {.least = 1e-6, .most = 1e12});
    fields.text({"source", "Source of the measurement: who measured it, and how.", true}, calibration.source);
}

/// Reads the rows of one workload: the row of the mapping itself, and those of other batches. Times that fall with the
/// batch are accepted, because `syncline calibrate` changes only the first row.
void describe(Fields& fields, const std::string& workload, std::vector<Calibration>& rows) {
    const std::size_t first = rows.size();
    rows.emplace_back().workload = workload;
    describe(fields, rows.back());
    fields.each({"other_batches",
                 "Further rows for other batches; between two rows the iteration time is linear in the batch."},
                [&](Fields& entry) {
                    Calibration row;
                    row.workload = workload;
                    describe(entry, row);
                    for (std::size_t other = first; other < rows.size(); ++other)
                        if (entry.sound() && rows[other].batch == row.batch)
                            entry.reject("batch", fmt::format("batch {} is listed twice", row.batch),
                                         "give one throughput for each batch");
                    if (entry.sound()) rows.push_back(row);
                });
}

/// Rejects a point with a smaller part than the point before it, or with a larger one than in proportion to its size.
void check_point(Fields& fields, const EfficiencyCurve::Point& last, const EfficiencyCurve::Point& point) {
    if (point.at <= last.at)
        return fields.reject("at", fmt::format("{} follows {}", point.at, last.at), "sizes must ascend");
    if (point.fraction < last.fraction)
        return fields.reject("part", fmt::format("{} is less than the previous {}", point.fraction, last.fraction),
                             "larger work must not reach a smaller part of the peak");
    constexpr double rounding = 1 + 1e-9;
    if (point.fraction / last.fraction > point.at / last.at * rounding)
        fields.reject("part",
                      fmt::format("with {} at {} and {} at {}, the larger work would take less time", last.fraction,
                                  last.at, point.fraction, point.at),
                      fmt::format("the maximum is {:.4g} here", last.fraction * point.at / last.at));
}

void describe(Fields& fields, EfficiencyCurve& curve) {
    std::string source;
    fields.one_of({"over",
                   "Size that determines the efficiency: the samples that the device processes together (`batch`), or "
                   "the smallest of a matrix product's three extents (`gemm`).",
                   true},
                  curve.over, {{"batch", EfficiencyCurve::Over::batch}, {"gemm", EfficiencyCurve::Over::gemm}});
    fields.each(
        {"points",
         "Points of the curve: `[{at: 1, part: 0.2}, {at: 64, part: 0.6}]`. Between them the part is a power "
         "of the size; it must not fall, nor grow faster than the size.",
         true},
        [&](Fields& entry) {
            EfficiencyCurve::Point point;
            entry.number({"at", "Size: number of samples, or smallest extent.", true}, point.at, 1e-3, 1e12);
            entry.number({"part", "Part of the device's `flops` that is reached.", true}, point.fraction, 1e-6, 1);
            if (!entry.sound()) return;
            if (!curve.points.empty()) check_point(entry, curve.points.back(), point);
            if (entry.sound()) curve.points.push_back(point);
        });
    fields.text({"source", "Source of the curve: who measured it, and how; or that it is chosen.", true}, source);
}

void describe(Fields& fields, MeasuredLayers& measured) {
    fields.integer({"batch", "Batch of that measurement, in samples.", true}, measured.batch, 1, largest_batch);
    fields.named({"layers", "Times of each layer, by the layer's name.", true}, [&](const std::string& name,
                                                                                    Fields& entry) {
        MeasuredLayers::Layer& layer = measured.layers.emplace_back();
        layer.name = name;
        const QuantityRange range{.word = "none", .most = longest_s};
        entry.quantity({"forward", "Forward time of the whole batch: `1.2 ms`.", true}, layer.forward_s,
                       Dimension::seconds, range);
        entry.quantity(
            {"backward", "Backward time of the whole batch, gradients of weights and inputs together: `2.4 ms`.", true},
            layer.backward_s, Dimension::seconds, range);
    });
    fields.text({"source", "Source of the measurement: who measured it, and how.", true}, measured.source);
}

}  // namespace

void describe(Fields& fields, Device& device) {
    fields.text({"name", "Name of this kind of device."}, device.name);
    fields.quantity(
        {"flops", "Peak rate in the precision used for training, which the file names: `10.6 Tflops`.", true},
        device.flops_per_s, Dimension::flops, {.least = 1, .most = 1e24});
    fields.quantity({"memory_bandwidth", "Bandwidth of the device's memory: `732 GBps`.", true}, device.memory_Bps,
                    Dimension::bandwidth, bandwidths);
    fields.quantity({"memory", "Capacity of the device's memory: `16 GB`."}, device.memory_bytes, Dimension::bytes,
                    {.word = "unlimited", .word_value = unlimited, .least = 1, .most = 1e18});
    fields.quantity({"memory_reserve",
                     "Part of `memory` that a training cannot use: the driver's context, code of kernels, libraries: "
                     "`0.65 GiB`."},
                    device.reserve_bytes, Dimension::bytes, {.word = "none", .most = 1e18});
    if (fields.sound() && device.reserve_bytes > 0 && device.reserve_bytes >= device.memory_bytes)
        fields.reject("memory_reserve", "'memory_reserve' leaves nothing of 'memory'", "write less than `memory`");
    fields.quantity({"kernel_latency", "Minimum time of a kernel: `5 us`."}, device.kernel_latency_s,
                    Dimension::seconds, {.word = "none", .most = longest_s});
    fields.quantity(
        {"host_link", "Bandwidth between host and device, in each direction: `12 GBps`. `training.offload` needs it."},
        device.host_link_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    fields.quantity({"reduction_rate",
                     "Reduction rate: bytes of one gradient added to another per second. Default: a third of "
                     "`memory_bandwidth` (two reads and one write)."},
                    device.reduction_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    if (!fields.given("reduction_rate")) device.reduction_Bps = device.memory_Bps / 3;
    fields.integer({"multiprocessors",
                    "Number of streaming multiprocessors (SMs): `108`. Used by the transport's "
                    "`exchange_multiprocessors`. Default: not given."},
                   device.multiprocessors, 1, 1 << 20);
    fields.number(
        {"speed", "Relative speed of all computation, with every compute model: `0.9`. A factor to calibrate."},
        device.speed, 0.001, 1000);
    double speed = 1;
    double &collective = device.speed_beside_exchange.of[0], &point_to_point = device.speed_beside_exchange.of[1];
    fields.number_or_section(
        {"speed_beside_exchange",
         "Relative speed of computation while a communication of the rank is in flight: `0.8`; or by kind: "
         "`{collective: 0.6, point-to-point: 0.9}`."},
        speed, 0.01, 1, [&](Fields& inner) {
            inner.number({"collective",
                          "Speed beside collectives: the all-reduce of gradients, and exchanges of activations and "
                          "weights within a group."},
                         collective, 0.01, 1);
            inner.number({"point-to-point",
                          "Speed beside messages between pairs: transfers between stages, halos, gossip, pushes to and "
                          "pulls from parameter servers."},
                         point_to_point, 0.01, 1);
        });
    if (speed != 1) device.speed_beside_exchange = speed;
    describe_power(fields, device.power);
    fields.named({"calibration", "Measured throughput of one device, by the workload's name."},
                 [&](const std::string& workload, Fields& entry) { describe(entry, workload, device.calibration); });
    fields.section({"efficiency",
                    "Efficiency curve: the part of its peak that the device reaches. Used by `compute: efficiency`."},
                   [&](Fields& inner) { describe(inner, device.efficiency.emplace()); });
    fields.section({"kernels",
                    "Measured rates of kernels. Used by `compute: tables`, and by default for workloads without a "
                    "`calibration`."},
                   [&](Fields& inner) {
                       KernelRates& rates = device.kernels.emplace();
                       if (device.multiprocessors > 0) rates.multiprocessors = device.multiprocessors;
                       describe(inner, rates);
                   });
    if (fields.given("kernels") && !fields.given("multiprocessors"))
        fields.reject("kernels", "'kernels' needs the device's 'multiprocessors', among which products are divided",
                      "`multiprocessors: 108`");
    fields.named(
        {"layer_times", "Measured times of a workload's layers, by the workload's name. Used by `compute: measured`."},
        [&](const std::string& workload, Fields& entry) {
            MeasuredLayers& measured = device.layer_times.emplace_back();
            measured.workload = workload;
            describe(entry, measured);
        });
}

}  // namespace syncline::config
