#include <fmt/format.h>

#include "sim/config/counts.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/platform_parts.hpp"

namespace syncline::config {

namespace {

constexpr QuantityRange times{.word = "none", .most = 3600};

/// Rejects points by which a larger message would take less time: they are typing errors.
void check_against(Fields& fields, const BandwidthPoint& before, const BandwidthPoint& point) {
    if (point.bytes <= before.bytes)
        fields.reject("size", "sizes must ascend",
                      fmt::format("the previous size is {}", format_quantity(before.bytes, Dimension::bytes)));
    else if (point.seconds() < before.seconds())
        fields.reject("bandwidth",
                      fmt::format("{} would take {}, less than the {} of the previous size",
                                  format_quantity(point.bytes, Dimension::bytes),
                                  format_quantity(point.seconds(), Dimension::seconds),
                                  format_quantity(before.seconds(), Dimension::seconds)),
                      "a larger message must not take less time");
}

void describe(Fields& fields, MessageTerms& terms) {
    fields.quantity({"send_overhead", "Time for which a message occupies its sender before it leaves: `5 us`."},
                    terms.send_overhead_s, Dimension::seconds, times);
    fields.quantity(
        {"receive_overhead", "Time for which a message occupies its receiver after it has arrived: `5 us`."},
        terms.receive_overhead_s, Dimension::seconds, times);
    fields.quantity({"latency", "Latency of a message in addition to that of its links: `10 us`."}, terms.latency_s,
                    Dimension::seconds, times);
    double everywhere = unlimited;
    std::vector<BandwidthPoint> points;
    fields.quantity_or_each({"bandwidth",
                             "Maximum bandwidth of one connection: `2 GBps`; or by message size: `[{size: 4 KiB, "
                             "bandwidth: 500 MBps}, {size: 1 MiB, bandwidth: 2 GBps}]`."},
                            everywhere, Dimension::bandwidth, bandwidths_or_unlimited, [&](Fields& inner) {
                                BandwidthPoint point;
                                inner.quantity({"size", "Size of the message: `4 KiB`.", true}, point.bytes,
                                               Dimension::bytes, {.least = 1, .most = 1e15});
                                inner.quantity({"bandwidth", "Bandwidth at that size: `1 GBps`.", true},
                                               point.bandwidth_Bps, Dimension::bandwidth, {.least = 1, .most = 1e18});
                                if (!inner.sound()) return;
                                if (!points.empty()) check_against(inner, points.back(), point);
                                points.push_back(point);
                            });
    if (everywhere != unlimited) points = {{1, everywhere}};
    if (fields.given("bandwidth")) terms.bandwidth = points;
    fields.number({"payload",
                   "Share of data in what links carry; the rest are packets' headers and replies: 0.82 for stores over "
                   "NVLink."},
                  terms.payload, 0.01, 1);
    fields.quantity({"eager",
                     "Maximum size of an eager message (MPI), which leaves without its receiver: `64 KiB`; larger ones "
                     "wait for a handshake (rendezvous). Default: both sides wait, without handshake."},
                    terms.eager_bytes, Dimension::bytes,
                    {.zero = true, .word = "unlimited", .word_value = unlimited, .most = 1e15});
}

void describe(Fields& fields, Staging& staging) {
    fields.one_of({"each",
                   "Unit of a copy: every message (`message`), or the whole buffer of a collective before its first "
                   "step and after its last (`collective`).",
                   true},
                  staging.unit, {{"message", Staging::Unit::message}, {"collective", Staging::Unit::collective}});
    fields.quantity({"rate", "Copy rate: bytes per second. Default: the device's `host_link`."}, staging.rate_Bps,
                    Dimension::bandwidth, bandwidths_or_unlimited);
    fields.quantity({"latency", "Latency of each copy: starting it, and detecting its end."}, staging.latency_s,
                    Dimension::seconds, times);
}

void describe(Fields& fields, Reduction& reduction) {
    fields.one_of({"where", "Processor that adds received data to local data: `device` or `host`."}, reduction.where,
                  {{"device", Reduction::Where::device}, {"host", Reduction::Where::host}});
    fields.quantity({"rate",
                     "Reduction rate: bytes of one operand added to another per second. Default: the `reduction_rate` "
                     "of the device or host."},
                    reduction.rate_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    fields.quantity({"launch", "Launch time of the reduction kernel in each step: `5 us`."}, reduction.launch_s,
                    Dimension::seconds, times);
}

}  // namespace

void describe(Fields& fields, Transport& transport) {
    fields.text({"name", "Name shown in messages."}, transport.name);
    describe(fields, transport.between);
    transport.inside = transport.between;
    fields.section(
        {"inside_node",
         "Costs of messages within a node, with the same keys, each `none` unless written. Default: as between nodes."},
        [&](Fields& inner) {
            transport.inside = {};
            describe(inner, transport.inside);
        });
    fields.quantity({"host_bandwidth",
                     "Maximum bandwidth of a node to other nodes, in each direction, over all its connections: `20 "
                     "Gbps`. Its links are `node-3/transport-out` and `-in`."},
                    transport.host_Bps, Dimension::bandwidth, bandwidths_or_unlimited);
    fields.section(
        {"staging", "Copies between the device and the buffers from which messages are sent."},
        [&](Fields& inner) { describe(inner, transport.staging); }, "none");
    fields.quantity({"driver_query",
                     "Time that each send and receive takes to find out whether its buffer is on a device; `none` if "
                     "the answers are cached."},
                    transport.driver_query_s, Dimension::seconds, times);
    fields.section(
        {"reduction", "Reductions by the members of a collective. A parameter server adds at `host.reduction_rate`."},
        [&](Fields& inner) { describe(inner, transport.reduction); });
    fields.quantity({"launch", "Launch time of each collective on every rank, before its first step."},
                    transport.launch_s, Dimension::seconds, times);
    fields.integer_or_word({"channels",
                            "Number of channels of a collective, unless the training says otherwise: NCCL has one per "
                            "port and path (`auto`), MPI has 1."},
                           transport.channels, most_channels, "auto");
    describe_selection(fields, transport.selection);
    fields.flag(
        {"pxn",
         "Whether a message to another rail goes over the node's links to the device on the receiver's rail, as "
         "NCCL's PXN. Default: `true` on fabrics of rails, if `channels` is `auto`."},
        transport.pxn);
    fields.integer({"window", "Maximum number of messages of one step that a rank has in flight. Default: no limit."},
                   transport.window, 1, 1 << 24);
    std::int64_t taken = 0;
    std::int64_t &collective = transport.exchange_multiprocessors.of[0],
                 &point_to_point = transport.exchange_multiprocessors.of[1];
    fields.integer_or_section(
        {"exchange_multiprocessors",
         "`multiprocessors` that a communication in flight takes: `2`; or `{collective: 16, point-to-point: 2}`. No "
         "effect if the device gives none, or its own `speed_beside_exchange`."},
        taken, 0, 1 << 20, [&](Fields& inner) {
            inner.integer({"collective", "Multiprocessors of a collective, as for `speed_beside_exchange`."},
                          collective, 0, 1 << 20);
            inner.integer({"point-to-point", "Multiprocessors of messages between pairs."}, point_to_point, 0, 1 << 20);
        });
    if (taken > 0) collective = point_to_point = taken;
}

}  // namespace syncline::config
