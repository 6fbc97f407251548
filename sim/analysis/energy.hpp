#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/breakdown.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Energy of an iteration: the power of each part (sim/platform/power.hpp) over the iteration's time T.
///
///     devices    D·idle·T + (busy - idle)·computation + (communicating - idle)·exposed communication
///     hosts      N·idle·T + (busy - idle)·(parameter servers that add, or the processors of a trace's ranks)
///     switches   n·S·idle·T + (busy - idle)·Σ bytes / bandwidth, of all ports of a switch together
///     ports      n·P·idle·T + (busy - idle)·Σ bytes / bandwidth, of each port
///
/// N nodes with ranks or servers count whole, with all their D devices. Of the fabric's S switches and P ports count as
/// many as the share n of its nodes that is in use: the others are other jobs'. Energy of the facility = PUE · sum. A
/// device computes while its compute stream works. While it only communicates it counts as idle, as hosts do in
/// SimGrid, unless the platform says otherwise. Of GPUs large swings of power between the two phases were measured (P.
/// Patel et al., "Characterizing power management opportunities for LLMs in the cloud", ASPLOS 2024), but NCCL's
/// kernels keep some multiprocessors busy, so that idle power is a lower bound. Overlapped communication adds nothing.
/// A port is busy with what it sends; its peer at the cable's other end counts what it receives. Since power is linear
/// in the load, the bytes that a link carries give the integral of its load exactly, whatever limits its flows.
/// (SimGrid 3.32's link plugin integrates only when one of a link's own flows starts or ends, with the load of that
/// moment: a flow that another link throttles meanwhile is wrong.) Left out: links in nodes, which are part of devices
/// and hosts; nodes that wait for a job; storage.
///
/// Of jobs that share a cluster all its nodes count, for the makespan. A job has the energy of its devices from its
/// start to its end, and of the same share of their hosts; the rest is that of devices which no job has, and of the
/// fabric, which belongs to all.
namespace syncline {

struct Energy {
    double seconds = 0;
    /// Of the equipment, without PUE; empty: the platform does not have the power of these parts.
    std::optional<double> devices_J, hosts_J, switches_J, ports_J;
    std::optional<double> pue;  ///< empty: not given, and counted as 1

    /// Returns the energy of the facility.
    double total_J() const;
    /// Returns the mean power; nothing if no time passes.
    std::optional<double> mean_W() const;
    /// Returns nothing without samples.
    std::optional<double> per_million_samples_J(std::int64_t samples) const;
    /// Returns which parts are missing, as a note without a full stop; empty: none.
    std::string note() const;
};

/// Work of the parts of a cluster in an iteration.
struct Working {
    double seconds = 0;       ///< of the iteration
    std::int64_t nodes = 0;   ///< number in use
    std::uint32_t wired = 0;  ///< one more than the highest number of a node in use
    Activity activity;
    std::vector<LinkUse> links;
};

/// Returns the power, with `pue`, of a node whose devices do nothing, and of its share of the fabric among `nodes` in
/// use; 0 if no part's is known. `wired`: as in Working.
double idle_W(const Cluster& cluster, std::int64_t nodes, std::uint32_t wired);
/// Returns nothing if the power of no part is known.
std::optional<Energy> energy_of(const Cluster& cluster, const Working& working);
/// Returns that of the replay of `graph`. `time` has an activity.
std::optional<Energy> energy_of(const Cluster& cluster, const TaskGraph& graph, const std::vector<LinkUse>& links,
                                const Breakdown& time);

/// Returns the energy of the facility for devices, with their share of the hosts, that are there for so many seconds in
/// all, and work as `activity` says. Returns nothing if neither's power is known.
std::optional<double> held_J(const Cluster& cluster, double device_s, const Activity& activity);

}  // namespace syncline
