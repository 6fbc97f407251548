#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/breakdown.hpp"
#include "sim/analysis/theory.hpp"
#include "sim/replay/replay.hpp"

/// The questions that a person asks, answered: how long does an iteration take, how long one exchange.
namespace syncline {

/// A link, one direction of it, during an iteration or an exchange.
struct LinkLoad {
    std::string name;
    std::uint64_t bytes = 0;
    double utilisation = 0;  ///< bytes over what it could have carried in that time
};

/// One way of training, measured. Times are those of the rank that finishes last; counts are of one iteration.
struct Result {
    std::string variant;
    std::string workload;
    std::int64_t ranks = 0;
    std::string fabric;                        ///< its shape, or the native platform's file
    std::string exchange, algorithm, overlay;  ///< as in files; empty where there is none
    Breakdown time;
    /// Nothing if the iteration takes no time.
    std::optional<double> throughput_samples_per_s;
    /// Throughput over ranks times that of one rank, simulated too.
    std::optional<double> scaling_efficiency;
    std::uint64_t messages = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t most_bytes_sent_by_rank = 0;  ///< servers are no ranks
    std::uint64_t gradient_bytes = 0;
    ClosedForm closed_form;
    std::vector<LinkLoad> links;  ///< the ten with the highest utilisation, that first
};

struct Report {
    std::string name;
    std::vector<Result> results;
};

/// Told which simulation is under way, how many messages it has put, and how many it will.
using Watch = std::function<void(const Progress& progress, std::uint64_t expected_messages)>;

/// Simulates `plan` and, for the efficiency, the same on one rank; each in a process of its own.
Result simulate(const Cluster& cluster, const Model& model, const Plan& plan, const Watch& watch = {});

/// One exchange alone.
struct CollectiveResult {
    std::string operation, algorithm, overlay, fabric;
    std::uint32_t ranks = 0;
    std::uint64_t bytes = 0;
    double completion_time_s = 0;
    std::optional<double> closed_form_s;
    std::uint64_t messages = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t most_bytes_sent_by_rank = 0;
    std::vector<std::uint64_t> sent_by, received_by;  ///< by rank
    std::vector<LinkLoad> links;                      ///< the ten with the highest utilisation, that first
    /// Bytes over time; nothing if it took none.
    std::optional<double> algorithm_bandwidth_Bps;
    /// Algorithm bandwidth × 2(N-1)/N for an all-reduce, × (N-1)/N for an all-to-all: what each link carries at least
    /// (as nccl-tests defines it).
    std::optional<double> bus_bandwidth_Bps;
};

CollectiveResult simulate_collective(const Cluster& cluster, const CollectivePlan& plan, const Watch& watch = {});

}  // namespace syncline
