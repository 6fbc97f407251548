#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/selection.hpp"
#include "sim/platform/interference.hpp"

/// Costs that software adds to the wires when it moves a message from one rank's buffer to another's.
///
/// A stream that takes part in an exchange spends, one after the other,
///   before the first step: `launch`, and with collective staging a copy out of the device; for each message it sends:
///   driver query + its copy out of the device + `send_overhead`, then the message leaves; when all messages of a step
///   are in: for each one received `receive_overhead` + driver query + its copy into the device, then the reduction, γ
///   per byte after its kernel's launch; after the last step: with collective staging, a copy into the device.
/// A message in flight gets its share of the wires or the bandwidth of one connection at its size, whichever is less,
/// and then takes the links' latencies and `latency` (Latency in cluster.hpp). A sender waits for its bytes, unlike
/// LogGP's, which is busy for the overhead alone. Sources: LogGP (A. Alexandrov et al., SPAA 1995), for o and G, which
/// depends on the size (T. Hoefler et al., "LogGOPSim", HPDC 2010); staging, driver queries and their cache: A. A. Awan
/// et al., "Scalable Distributed DNN Training using TensorFlow and CUDA-Aware MPI", CCGrid 2019.
///
/// Units: seconds, bytes, bytes per second. Messages between two processes of one node pay the terms of `inside`,
/// others those of `between`. A process on a host (a parameter server) has nothing to stage, and reduces at its host's
/// rate. A device makes one copy at a time in each direction; overheads are paid by a separate thread for each
/// connection with a server.
///
/// MPI's protocols (`eager_bytes`): a small message leaves without waiting for its receiver (eager); a larger one asks
/// the receiver (rendezvous): with L, the latency of the links and of `latency`, a sender ready at s and a receiver
/// ready at r, it starts at max(s + L, r) + L. D. Buntinas, G. Mercier, W. Gropp, "Implementation and evaluation of
/// shared-memory communication and synchronization operations in MPICH2 using the Nemesis communication subsystem",
/// Parallel Computing 33, 2007. Without `eager_bytes` messages start at max(s, r), like RDMA writes into known buffers.
///
/// Left out: contention of copies with other traffic on the PCIe bus, TCP's slow start, cores that are busy otherwise,
/// overheads of a handshake's messages, the copy of an eager message that is there before its receiver, the overlap of
/// received messages with messages still in flight in the same step.
namespace syncline {

/// Bandwidth of one connection with messages of `bytes`. Between two points time is linear in size; smaller messages
/// have the rate of the first point, larger ones the rate of the last.
struct BandwidthPoint {
    double bytes = 0;
    double bandwidth_Bps = 0;

    double seconds() const { return bytes / bandwidth_Bps; }
    bool operator==(const BandwidthPoint&) const = default;
};

struct MessageTerms {
    double send_overhead_s = 0;
    double receive_overhead_s = 0;
    double latency_s = 0;                   ///< in addition to the links'
    std::vector<BandwidthPoint> bandwidth;  ///< ascending, times not falling; empty: the links'
    /// Data divided by bytes on the wires: the rest are packets' headers and replies. An NVLink 4 of 450 GB/s carries
    /// 370 GB/s of data, because stores by multiprocessors have 128 B per packet (NVIDIA/nccl-tests, issues 149, 212).
    double payload = 1;
    /// Size up to which messages are eager; all larger ones use the rendezvous. Nothing: neither.
    std::optional<double> eager_bytes = {};

    /// Returns the bandwidth of a connection with a message of `bytes`; infinite without points.
    double limit_Bps(double bytes) const;

    bool operator==(const MessageTerms&) const = default;
};

/// Copies between device and host (or communication buffer). `collective`: the whole buffer before the first step and
/// after the last; `message`: each message before it is sent and after it is received. A member that contributes
/// nothing, or keeps nothing, copies in one direction only. An empty copy takes no time, not even the latency.
struct Staging {
    enum class Unit { none, message, collective };

    Unit unit = Unit::none;
    std::optional<double> rate_Bps;  ///< default: the device's host link
    double latency_s = 0;            ///< of each copy: starting it and detecting its end

    double copy_s(std::uint64_t bytes, double host_link_Bps) const;

    bool operator==(const Staging&) const = default;
};

/// The processor that adds received data to the buffer.
struct Reduction {
    enum class Where { device, host };

    Where where = Where::device;
    std::optional<double> rate_Bps;  ///< 1/γ; default: the device's, or the host's
    double launch_s = 0;             ///< of the kernel, in each step that reduces at least one byte

    bool operator==(const Reduction&) const = default;
};

/// Multiprocessors of the device that the kernels of an exchange in flight take from computation, by ExchangeClass: the
/// number of channels times the thread blocks of each.
struct ExchangeMultiprocessors {
    std::array<std::int64_t, exchange_classes> of{0, 0};

    bool any() const { return of[0] > 0 || of[1] > 0; }
    bool operator==(const ExchangeMultiprocessors&) const = default;
};

struct Transport {
    std::string name;                                           ///< empty: none, messages cost only the wires' time
    MessageTerms between;                                       ///< terms between nodes
    MessageTerms inside;                                        ///< terms inside a node
    double host_Bps = std::numeric_limits<double>::infinity();  ///< limit on the traffic of a node, in each direction
    Staging staging;
    Reduction reduction;
    double driver_query_s = 0;  ///< of each send and receive, to find out whether the buffer is on a device
    double launch_s = 0;        ///< of each collective, on every rank, before its first step
    /// How the library chooses algorithms and protocols, where a plan does not; null: it does not choose.
    std::shared_ptr<const Selection> selection;
    /// Maximum number of messages with bytes that a rank has in flight within a step; 0: unlimited. Messages that it
    /// receives may arrive together. If a message waits for a step that its receiver reaches only after another message
    /// of the same sender, a window can deadlock both, as in reality.
    std::int64_t window = 0;
    ExchangeMultiprocessors exchange_multiprocessors;

    /// Number of channels in which collectives run between these processes (sim/lowering/channel_orders.hpp), unless a
    /// plan names another; 0: as many as there are ports and paths, as NCCL does. MPI's collectives have one.
    std::int64_t channels = 0;

    /// Whether a message to another rail goes by a device of the sender's node (relays_on_rails in cluster.hpp).
    std::optional<bool> pxn = {};

    /// Returns true if some messages start before their receivers are ready, or only after a handshake.
    bool has_protocols() const { return between.eager_bytes || inside.eager_bytes; }

    bool operator==(const Transport&) const = default;
};

/// Returns true if messages cost only the wires' time, and collectives only that of their messages and reductions.
bool is_plain(const Transport& transport);

}  // namespace syncline
