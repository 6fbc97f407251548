#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// What software adds to wires: how a message gets from a rank's buffer to another's.
///
/// A stream that takes part in an exchange spends, one after the other,
///   before the first step: `launch`, and where buffers are staged whole, a copy out of the device;
///   for each message it sends: driver query + its copy out of the device + `send_overhead`, then the message leaves;
///   when all messages of a step are in: for each one received `receive_overhead` + driver query + its copy into the
///   device, then the reduction, γ per byte after its kernel's launch;
///   after the last step: where buffers are staged whole, a copy into the device.
/// A message on its way takes the wires' share or what one connection reaches at its size, whichever is less, and then
/// the links' latencies and `latency`. A step ends when what it sent has arrived, latency included, so that pipelines
/// pay the latency for each segment: blocking sends, not LogGP's, whose sender is busy for the overhead alone. Source
/// of the terms: LogGP (A. Alexandrov et al., SPAA 1995), whose o and G these are; G depends on the size as measured
/// curves do (T. Hoefler et al., "LogGOPSim", HPDC 2010). Staging, driver queries and their cache: A. A. Awan et al.,
/// "Scalable Distributed DNN Training using TensorFlow and CUDA-Aware MPI", CCGrid 2019.
///
/// Units: seconds, bytes, bytes per second. Messages between two processes of one node pay the terms of `inside`, all
/// others those of `between`. A process on a host (a parameter server) has nothing to stage, and what it adds is its
/// host's business.
///
/// A device copies one thing at a time each way, whichever of its exchanges it is for; overheads are those of a thread
/// of its own for each connection with a server.
///
/// Left out: contention of copies with other traffic on the PCIe bus, TCP's slow start, cores that are busy otherwise,
/// and the overlap of what is received with what is still under way in the same step.
namespace syncline {

/// What one connection reaches with messages of `bytes`. Between two points time is linear in size; smaller messages
/// than the first have its rate, larger than the last have its rate.
struct BandwidthPoint {
    double bytes = 0;
    double bandwidth_Bps = 0;

    double seconds() const { return bytes / bandwidth_Bps; }
    bool operator==(const BandwidthPoint&) const = default;
};

struct MessageTerms {
    double send_overhead_s = 0;
    double receive_overhead_s = 0;
    double latency_s = 0;                   ///< beside the links'
    std::vector<BandwidthPoint> bandwidth;  ///< by size, ascending, their times not falling; empty: as the links give

    /// What a connection reaches with a message of `bytes`; infinite without points.
    double limit_Bps(double bytes) const;

    bool operator==(const MessageTerms&) const = default;
};

/// Copies between device and host (or communication buffer). `collective`: the whole buffer before the first step and
/// after the last; `message`: each before it is sent and after it is received. A member that has nothing to give, or
/// keeps nothing, copies only one way. Nothing is not copied, whatever the latency.
struct Staging {
    enum class Unit { none, message, collective };

    Unit unit = Unit::none;
    std::optional<double> rate_Bps;  ///< default: the device's host link
    double latency_s = 0;            ///< of each copy: starting it, and noticing its end

    double copy_s(std::uint64_t bytes, double host_link_Bps) const;

    bool operator==(const Staging&) const = default;
};

/// Who adds what arrives to what is held.
struct Reduction {
    enum class Where { device, host };

    Where where = Where::device;
    std::optional<double> rate_Bps;  ///< 1/γ; default: the device's, or the host's
    double launch_s = 0;             ///< of the kernel, for each step that reduces any byte

    bool operator==(const Reduction&) const = default;
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
    /// Messages of a step whose bytes a rank has on their way at once; 0: any number. All it receives may arrive
    /// together. Where a message waits for a step that its receiver comes to only after another of the same sender's,
    /// a window can stop both for good, as it does in reality.
    std::int64_t window = 0;

    double query_s() const { return pointer_cache ? 0 : driver_query_s; }

    bool operator==(const Transport&) const = default;
};

/// Whether messages cost what the wires do, and collectives what their messages and reductions do.
bool is_plain(const Transport& transport);

}  // namespace syncline
