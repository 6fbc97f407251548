#include <fmt/format.h>

#include "sim/config/platform_parts.hpp"

namespace syncline::config {

namespace {

/// A device, a rack, or a switch for everything; more is a wrong unit.
constexpr double most_W = 1e7;
constexpr QuantityRange watts{.least = 1e-3, .most = most_W};
constexpr QuantityRange watts_or_none{.word = "none", .least = 1e-3, .most = most_W};

/// Describes `busy` and `idle`, and rejects a part that takes more when idle.
void describe(Fields& fields, Power& power, const char* busy, const char* idle) {
    fields.quantity({"busy", busy, true}, power.busy_W, Dimension::power, watts);
    std::optional<double> idle_W;
    fields.quantity({"idle", idle}, idle_W, Dimension::power, watts_or_none);
    power.idle_W = idle_W.value_or(power.busy_W);
    if (fields.sound() && power.idle_W > power.busy_W)
        fields.reject("idle", fmt::format("an idle power of {:g} W is above the busy one", power.idle_W),
                      fmt::format("write at most {:g} W", power.busy_W));
}

void describe(Fields& fields, FabricPower& power, const char* busy, const char* idle, const char* bandwidth) {
    describe(fields, power, busy, idle);
    fields.quantity({"bandwidth", bandwidth}, power.bandwidth_Bps, Dimension::bandwidth, bandwidths);
}

}  // namespace

void describe_power(Fields& fields, std::optional<DevicePower>& power) {
    fields.section({"power", "Electric power of a device. With it results have an `energy_J`."}, [&](Fields& inner) {
        DevicePower& of_device = power.emplace();
        describe(inner, of_device, "Power while the device computes: `700 W`, its maker's limit or a measured mean.",
                 "Power while it does nothing: `70 W`. Default: `busy`, as in estimates from the maker's limit.");
        std::optional<double> communicating_W;
        inner.quantity(
            {"communicating", "Power while it exchanges data and computes nothing: `200 W`. Default: `idle`."},
            communicating_W, Dimension::power, watts);
        of_device.communicating_W = communicating_W.value_or(of_device.idle_W);
        if (inner.sound() && of_device.communicating_W < of_device.idle_W)
            inner.reject("communicating",
                         fmt::format("a power of {:g} W is below the idle one", of_device.communicating_W),
                         fmt::format("write at least {:g} W", of_device.idle_W));
    });
}

void describe_power(Fields& fields, std::optional<Power>& power) {
    fields.section({"power", "Electric power of all in a node but its devices: processors, memory, fans, adapters."},
                   [&](Fields& inner) {
                       describe(inner, power.emplace(),
                                "Power while a parameter server adds up gradients, or a trace's host works: `800 W`.",
                                "Power at other times: `500 W`. Default: `busy`.");
                   });
}

void describe_power(Fields& fields, Fabric& fabric) {
    fields.section({"power", "Electric power of the fabric's switches and ports."}, [&](Fields& inner) {
        inner.section({"switch", "Each switch without its ports."}, [&](Fields& part) {
            describe(
                part, fabric.switch_power.emplace(), "Power when all its ports send at full rate: `747 W`.",
                "Power without traffic. Default: `busy`.",
                "Bandwidth of one switch, of all its ports together, one way: `25.6 Tbps`. One with more counts as "
                "several. Default: any is one.");
        });
        inner.section(
            {"port", "Each port, with its transceiver: an end of a cable, at a switch or a node."}, [&](Fields& part) {
                describe(part, fabric.port_power.emplace(), "Power when it sends at full rate: `9 W`.",
                         "Power without traffic. Default: `busy`.",
                         "Bandwidth of one port: `400 Gbps`. A cable with more counts as several. Default: any "
                         "cable has one at each end.");
            });
    });
}

}  // namespace syncline::config
