#include <fmt/format.h>

#include "sim/config/bandwidths.hpp"
#include "sim/config/files.hpp"

namespace syncline::config {

namespace {

constexpr QuantityRange times{.word = "none", .most = 3600};

/// Messages of more bytes that take less time are a slip of the pen.
void check_against(Fields& fields, const BandwidthPoint& before, const BandwidthPoint& point) {
    if (point.bytes <= before.bytes)
        fields.reject("size", "sizes have to ascend",
                      fmt::format("the one before is {}", format_quantity(before.bytes, Dimension::bytes)));
    else if (point.seconds() < before.seconds())
        fields.reject("bandwidth",
                      fmt::format("{} would take {}, less than the {} of the size before",
                                  format_quantity(point.bytes, Dimension::bytes),
                                  format_quantity(point.seconds(), Dimension::seconds),
                                  format_quantity(before.seconds(), Dimension::seconds)),
                      "a larger message takes no less time");
}

void describe(Fields& fields, MessageTerms& terms) {
    fields.quantity({"send_overhead", "That a message keeps its sender busy, before it leaves: `5 us`."},
                    terms.send_overhead_s, Dimension::seconds, times);
    fields.quantity({"receive_overhead", "That a message keeps its receiver busy, after it has come: `5 us`."},
                    terms.receive_overhead_s, Dimension::seconds, times);
    fields.quantity({"latency", "Of a message, beside its links': `10 us`."}, terms.latency_s, Dimension::seconds,
                    times);
    double everywhere = unlimited;
    std::vector<BandwidthPoint> points;
    fields.quantity_or_each(
        {"bandwidth",
         "What one connection reaches at most: `2 GBps`; or by the message's size, with times that are linear between "
         "the sizes: `[{size: 4 KiB, bandwidth: 500 MBps}, {size: 1 MiB, bandwidth: 2 GBps}]`."},
        everywhere, Dimension::bandwidth, bandwidths_or_unlimited, [&](Fields& inner) {
            BandwidthPoint point;
            inner.quantity({"size", "Of the message: `4 KiB`.", true}, point.bytes, Dimension::bytes,
                           {.least = 1, .most = 1e15});
            inner.quantity({"bandwidth", "At that size: `1 GBps`.", true}, point.bandwidth_Bps, Dimension::bandwidth,
                           {.least = 1, .most = 1e18});
            if (!inner.sound()) return;
            if (!points.empty()) check_against(inner, points.back(), point);
            points.push_back(point);
        });
    if (everywhere != unlimited) points = {{1, everywhere}};
    if (fields.given("bandwidth")) terms.bandwidth = points;
}

void describe(Fields& fields, Staging& staging) {
    fields.one_of(
        {"each",
         "What is copied at once: every message, before it is sent and after it has come; or the whole buffer "
         "of a collective, before its first step and after its last.",
         true},
        staging.unit, {{"message", Staging::Unit::message}, {"collective", Staging::Unit::collective}});
    double rate_Bps = unlimited;
    fields.quantity({"rate", "Bytes copied per second; by default the device's `host_link`."}, rate_Bps,
                    Dimension::bandwidth, bandwidths_or_unlimited);
    if (fields.given("rate")) staging.rate_Bps = rate_Bps;
    fields.quantity({"latency", "Of each copy: starting it, and noticing its end."}, staging.latency_s,
                    Dimension::seconds, times);
}

void describe(Fields& fields, Reduction& reduction) {
    fields.one_of({"where", "Who adds what arrives to what is held."}, reduction.where,
                  {{"device", Reduction::Where::device}, {"host", Reduction::Where::host}});
    double rate_Bps = unlimited;
    fields.quantity(
        {"rate",
         "Bytes of one operand added to another per second; by default the `reduction_rate` of the device or host."},
        rate_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    if (fields.given("rate")) reduction.rate_Bps = rate_Bps;
    fields.quantity({"launch", "Of the kernel that adds, in each step: `5 us`."}, reduction.launch_s,
                    Dimension::seconds, times);
}

}  // namespace

void describe(Fields& fields, Transport& transport) {
    fields.text({"name", "Shown in messages."}, transport.name);
    describe(fields, transport.between);
    transport.inside = transport.between;
    fields.section({"inside_node", "The same for messages within a node; by default they cost what others do."},
                   [&](Fields& inner) {
                       transport.inside = {};
                       describe(inner, transport.inside);
                   });
    fields.quantity({"host_bandwidth",
                     "What a node sends to others at most, and what it receives, all connections "
                     "together: `20 Gbps`."},
                    transport.host_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    fields.section(
        {"staging", "Copies between the device and buffers from which messages are sent."},
        [&](Fields& inner) { describe(inner, transport.staging); }, "none");
    fields.quantity({"driver_query", "Of each send and receive: finding out whether its buffer is on a device."},
                    transport.driver_query_s, Dimension::seconds, times);
    fields.flag({"pointer_cache", "Whether answers to driver queries are remembered, so that they cost nothing."},
                transport.pointer_cache);
    fields.section({"reduction", "How a collective's members add."},
                   [&](Fields& inner) { describe(inner, transport.reduction); });
    fields.quantity({"launch", "Of each collective, on every rank, before its first step."}, transport.launch_s,
                    Dimension::seconds, times);
    fields.integer({"window", "Messages of a step that a rank has on their way at once; by default any number."},
                   transport.window, 1, 1 << 24);
}

}  // namespace syncline::config
