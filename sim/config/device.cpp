#include <fmt/format.h>

#include <string>

#include "sim/config/bandwidths.hpp"
#include "sim/config/files.hpp"

namespace syncline::config {

namespace {

constexpr std::int64_t largest_batch = 1 << 24;
/// Of one kernel, or one layer: hours are a slip of the unit.
constexpr double longest_s = 3600;

void describe(Fields& fields, Calibration& calibration) {
    fields.integer({"batch", "Samples per iteration in that measurement.", true}, calibration.batch, 1, largest_batch);
    fields.quantity({"throughput", "Samples per second of one device without any exchange: `219 images/s`.", true},
                    calibration.samples_per_s, Dimension::rate, {.least = 1e-6, .most = 1e12});
    fields.text({"source", "Who measured it, and how.", true}, calibration.source);
}

/// Reads the rows of one workload: the one of the mapping itself, and those of other batches. Times that fall with the
/// batch are accepted: `syncline calibrate` changes the first row alone.
void describe(Fields& fields, const std::string& workload, std::vector<Calibration>& rows) {
    const std::size_t first = rows.size();
    rows.emplace_back().workload = workload;
    describe(fields, rows.back());
    fields.each({"other_batches",
                 "Further rows, for other batches; between two rows an iteration's time is linear in the batch."},
                [&](Fields& entry) {
                    Calibration row;
                    row.workload = workload;
                    describe(entry, row);
                    for (std::size_t other = first; other < rows.size(); ++other)
                        if (entry.sound() && rows[other].batch == row.batch)
                            entry.reject("batch", fmt::format("a batch of {} stands above", row.batch),
                                         "one throughput for each batch");
                    if (entry.sound()) rows.push_back(row);
                });
}

/// Of the points in order each has to promise no less than the one before, and no more than in proportion.
void check_point(Fields& fields, const EfficiencyCurve::Point& last, const EfficiencyCurve::Point& point) {
    if (point.at <= last.at)
        return fields.reject("at", fmt::format("{} stands behind {}", point.at, last.at), "points go up");
    if (point.part < last.part)
        return fields.reject("part", fmt::format("{} is less than {} before it", point.part, last.part),
                             "larger work does not reach a smaller part of the peak");
    constexpr double rounding = 1 + 1e-9;
    if (point.part / last.part > point.at / last.at * rounding)
        fields.reject("part",
                      fmt::format("with {} at {} and {} at {}, the larger work would take less time", last.part,
                                  last.at, point.part, point.at),
                      fmt::format("at most {:.4g} here", last.part * point.at / last.at));
}

void describe(Fields& fields, EfficiencyCurve& curve) {
    std::string source;
    fields.one_of({"over",
                   "What decides: the samples that the device has at once, or the smallest of a matrix product's "
                   "three extents.",
                   true},
                  curve.over, {{"batch", EfficiencyCurve::Over::batch}, {"gemm", EfficiencyCurve::Over::gemm}});
    fields.each({"points", "From a size to a part of the peak; between them a power of the size.", true},
                [&](Fields& entry) {
                    EfficiencyCurve::Point point;
                    entry.number({"at", "Samples, or the smallest extent.", true}, point.at, 1e-3, 1e12);
                    entry.number({"part", "Of the device's `flops`.", true}, point.part, 1e-6, 1);
                    if (!entry.sound()) return;
                    if (!curve.points.empty()) check_point(entry, curve.points.back(), point);
                    if (entry.sound()) curve.points.push_back(point);
                });
    fields.text({"source", "Who measured it, and how; or that it is chosen.", true}, source);
}

void describe(Fields& fields, MeasuredLayers& measured) {
    fields.integer({"batch", "Samples at once in that measurement.", true}, measured.batch, 1, largest_batch);
    fields.named({"layers", "From a layer's name to its times.", true}, [&](const std::string& name, Fields& entry) {
        MeasuredLayers::Layer& layer = measured.layers.emplace_back();
        layer.name = name;
        const QuantityRange range{.word = "none", .most = longest_s};
        entry.quantity({"forward", "Of the whole batch: `1.2 ms`.", true}, layer.forward_s, Dimension::seconds, range);
        entry.quantity({"backward", "Gradients of weights and inputs together: `2.4 ms`.", true}, layer.backward_s,
                       Dimension::seconds, range);
    });
    fields.text({"source", "Who measured it, and how.", true}, measured.source);
}

}  // namespace

void describe(Fields& fields, Device& device) {
    fields.text({"name", "Of this kind of device."}, device.name);
    fields.quantity({"flops", "Peak in the precision that trains: `10.6 Tflops`.", true}, device.flops_per_s,
                    Dimension::flops, {.least = 1, .most = 1e24});
    fields.quantity({"memory_bandwidth", "Of the device's memory: `732 GBps`.", true}, device.memory_Bps,
                    Dimension::bandwidth, bandwidths);
    fields.quantity({"memory", "How much it holds: `16 GB`; `unlimited` by default."}, device.memory_bytes,
                    Dimension::bytes, {.word = "unlimited", .word_value = unlimited, .least = 1, .most = 1e18});
    fields.quantity({"kernel_latency", "The least time that a kernel takes: `5 us`; none by default."},
                    device.kernel_latency_s, Dimension::seconds, {.word = "none", .most = longest_s});
    fields.quantity({"host_link", "Host to device, one direction: `12 GBps`."}, device.host_link_Bps,
                    Dimension::bandwidth, bandwidths_or_unlimited);
    fields.quantity(
        {"reduction_rate",
         "Bytes of one gradient added to another per second; by default a third of `memory_bandwidth`, since an "
         "addition reads two elements and writes one."},
        device.reduction_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    if (!fields.given("reduction_rate")) device.reduction_Bps = device.memory_Bps / 3;
    fields.number({"speed_beside_exchange",
                   "What is left of its speed while one of its rank's exchanges is under way: `0.8`; 1 by default."},
                  device.speed_beside_exchange, 0.01, 1);
    fields.named({"calibration", "From a workload's name to what one device was measured to do with it."},
                 [&](const std::string& workload, Fields& entry) { describe(entry, workload, device.calibration); });
    fields.section({"efficiency", "Which part of its peak it reaches, for `compute: efficiency`."},
                   [&](Fields& inner) { describe(inner, device.efficiency.emplace()); });
    fields.named(
        {"layer_times", "From a workload's name to how long each of its layers takes, for `compute: measured`."},
        [&](const std::string& workload, Fields& entry) {
            MeasuredLayers& measured = device.layer_times.emplace_back();
            measured.workload = workload;
            describe(entry, measured);
        });
}

}  // namespace syncline::config
