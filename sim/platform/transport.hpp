#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// What software adds to wires: how a message gets from a rank's buffer to another's.
///
/// A message costs its sender `send_overhead` (its stream does nothing else), then crosses the links at their share or
/// at what one connection reaches at that size, whichever is less, takes the links' latencies and `latency`, and costs
/// its receiver `receive_overhead` for each. Source of the terms: LogGP (A. Alexandrov et al., SPAA 1995), whose o and
/// G these are; G depends on the size as measured curves do (T. Hoefler et al., "LogGOPSim", HPDC 2010).
///
/// Left out: contention of copies with other traffic on the PCIe bus, TCP's slow start, cores that are busy otherwise.
namespace syncline {

/// What one connection reaches with messages of `bytes`. Between two points time is linear in size; smaller messages
/// than the first have its rate, larger than the last have its rate.
struct BandwidthPoint {
    double bytes = 0;
    double bandwidth_Bps = 0;
};

struct MessageTerms {
    double send_overhead_s = 0;
    double receive_overhead_s = 0;
    double latency_s = 0;                   ///< beside the links'
    std::vector<BandwidthPoint> bandwidth;  ///< by size, ascending; empty: as the links give

    /// What a connection reaches with a message of `bytes`; infinite without points.
    double limit_Bps(double bytes) const;
};

/// Copies between device and host (or communication buffer). `collective`: the whole buffer before the first step and
/// after the last; `message`: each before it is sent and after it is received.
struct Staging {
    enum class Unit { none, message, collective };

    Unit unit = Unit::none;
    std::optional<double> rate_Bps;  ///< default: the device's host link
    double latency_s = 0;            ///< of each copy: starting it, and noticing its end
};

/// Who adds what arrives to what is held.
struct Reduction {
    enum class Where { device, host };

    Where where = Where::device;
    std::optional<double> rate_Bps;  ///< 1/γ; default: the device's, or the host's
    double launch_s = 0;             ///< of the kernel, for each step that reduces
};

struct Transport {
    std::string name;                                           ///< empty: none, messages cost what the wires do
    MessageTerms between;                                       ///< nodes
    MessageTerms inside;                                        ///< a node
    double host_Bps = std::numeric_limits<double>::infinity();  ///< of all a node sends, and of all it receives
    Staging staging;
    Reduction reduction;
    double driver_query_s = 0;   ///< of each send and each receive: is this buffer on a device?
    bool pointer_cache = false;  ///< remembers the answers, so that queries cost nothing
    double launch_s = 0;         ///< of each collective, on every rank, before its first step
    std::int64_t window = 0;     ///< messages that a rank has on their way at once, in one exchange; 0: any number
};

}  // namespace syncline
