#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/spread.hpp"

/// Results of jobs that share a cluster.
namespace syncline {

/// What another job took from a link while a job used it.
struct Neighbour {
    std::string job;   ///< the other one
    std::string link;  ///< one direction
    /// Per iteration of the job: the time in which messages of both are on the link, the bytes of the other in that
    /// time, and these bytes divided by the link's bandwidth: the delay of the job, if no other link holds it back.
    double shared_s = 0, bytes = 0, taken_s = 0;
    double utilisation = 0;  ///< of the link in the shared time, by all jobs
};

struct JobResult {
    std::string name;
    std::int64_t ranks = 0;
    std::uint32_t iterations = 0;
    double arrival_s = 0;
    std::optional<double> start_s, end_s;  ///< empty: it never starts
    std::string why_not;                   ///< then the reason
    std::vector<std::int64_t> nodes;       ///< that have its devices
    std::uint32_t racks = 0;               ///< number of racks that have them ...
    std::vector<std::uint32_t> in_racks;   ///< ... and which: in the order of the nodes
    /// Mean time of its iterations, from its start to its end: beside the other jobs, and with the same devices and
    /// start alone on the cluster.
    double iteration_s = 0, alone_s = 0;
    double compute_s = 0;  ///< the longest computation of a rank, per iteration
    std::uint64_t bytes_sent = 0, messages = 0;
    std::vector<Neighbour> neighbours;  ///< those that take most first; at most ten

    /// Energy of its devices, and of the same share of their hosts, from its start to its end; empty: not known.
    std::optional<double> energy_J;

    double wait_s() const { return start_s ? *start_s - arrival_s : 0; }
    double slowdown() const { return alone_s > 0 ? iteration_s / alone_s : 1; }
};

struct JobsResult {
    std::vector<JobResult> jobs;  ///< in the order of the file
    double makespan_s = 0;        ///< from the first arrival to the last end
    /// Computation of all ranks together / (devices of the cluster × makespan), and the part of the devices' time in
    /// which they belong to a job.
    double cluster_use = 0, allocated = 0;
    std::int64_t devices = 0;
    std::uint32_t groups = 0;      ///< of jobs that share links: each is simulated together
    bool neighbours_known = true;  ///< false: SimGrid carries the messages
    /// Energy of devices, and of their share of hosts, while they belong to no job, in the makespan; empty: not known.
    std::optional<double> unheld_J;
    /// Of simulations with several seeds.
    std::optional<Spread> makespans_s, slowdowns;

    // Means and maxima over the jobs that start; 0 without any.
    double mean_slowdown() const;
    double worst_slowdown() const;
    double mean_wait_s() const;
    double mean_iteration_s() const;
    std::size_t started() const;
};

}  // namespace syncline
