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

/// One way of training, measured. Times are those of the rank that finishes last; counts are of one iteration.
struct Result {
    std::string variant;
    std::string workload;
    std::int64_t ranks = 0;
    Breakdown time;
    /// Nothing if the iteration takes no time.
    std::optional<double> throughput_samples_per_s;
    /// Throughput over ranks times that of one rank, simulated too.
    std::optional<double> scaling_efficiency;
    std::uint64_t messages = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t gradient_bytes = 0;
    ClosedForm closed_form;
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
    std::string operation, algorithm;
    std::uint32_t ranks = 0;
    std::uint64_t bytes = 0;
    double completion_time_s = 0;
    std::optional<double> closed_form_s;
    std::uint64_t messages = 0;
    std::uint64_t bytes_sent = 0;
    /// Bytes over time; nothing if it took none.
    std::optional<double> algorithm_bandwidth_Bps;
    /// Algorithm bandwidth × 2(N-1)/N: what an all-reduce makes each link carry at least (as nccl-tests defines it).
    std::optional<double> bus_bandwidth_Bps;
};

CollectiveResult simulate_allreduce(const Cluster& cluster, std::uint32_t ranks, std::uint32_t servers,
                                    const std::string& algorithm, std::uint64_t bytes, const Watch& watch = {});

}  // namespace syncline
