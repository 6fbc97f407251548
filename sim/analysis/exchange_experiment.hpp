#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/cost.hpp"
#include "sim/analysis/measured.hpp"
#include "sim/training/chooser.hpp"

/// The question that a person asks, answered: how long does one exchange take, alone and at several sizes?
///
/// Algorithm bandwidth is the buffer's bytes over the time, bus bandwidth that times a factor that makes it what each
/// link carries at least, whatever the number of ranks: all-reduce 2(N-1)/N; reduce-scatter, allgather, all-to-all,
/// gather and scatter (N-1)/N; others 1; none where only some ranks contribute or receive. Source: nccl-tests,
/// doc/PERFORMANCE.md, where `bytes` is the larger of both buffers, which ours is.
namespace syncline {

double bus_factor(const std::string& operation, double ranks);

/// One exchange alone.
struct CollectiveResult {
    std::string operation, algorithm, overlay, fabric, transport;
    std::uint32_t ranks = 0, contributors = 0, receivers = 0;
    std::uint32_t rounds = 1;  ///< times, messages and bytes are means over so many
    std::uint64_t bytes = 0;
    double completion_time_s = 0;
    Cost cost;
    std::optional<double> closed_form_s;
    std::uint64_t messages = 0;
    Folded folded;
    std::uint64_t bytes_sent = 0;
    std::uint64_t most_bytes_sent_by_rank = 0;
    std::vector<std::uint64_t> sent_by, received_by;  ///< by rank
    std::vector<LinkLoad> links;                      ///< the ten with the highest utilisation, that first
    std::vector<std::string> notes;                   ///< as in Result
    /// Nothing if it took no time.
    std::optional<double> algorithm_bandwidth_Bps, bus_bandwidth_Bps;
};

/// What simulate_collective() would say of the closed form, without simulating.
std::optional<double> closed_form_s(const Cluster& cluster, const CollectivePlan& plan);

CollectiveResult simulate_collective(const Cluster& cluster, const CollectivePlan& plan, const Watch& watch = {});

/// One size of a sweep.
struct SweepPoint {
    std::uint64_t bytes = 0;
    std::string algorithm;
    double completion_time_s = 0;
    Cost cost;
    std::optional<double> closed_form_s;
    std::optional<double> algorithm_bandwidth_Bps, bus_bandwidth_Bps;
};

struct SweepResult {
    std::string variant;  ///< of a scenario
    std::string operation, algorithm, overlay, fabric, transport;
    std::uint32_t ranks = 0, contributors = 0, receivers = 0;
    std::uint32_t rounds = 1;        ///< times are means over so many
    Folded folded;                   ///< of all sizes together
    std::vector<std::string> notes;  ///< as in Result
    std::vector<SweepPoint> points;
};

/// The curves of a scenario.
struct SweepReport {
    std::string name;
    std::vector<SweepResult> results;
};

/// All sizes in one simulation, one after the other.
SweepResult simulate_sweep(const Cluster& cluster, const CollectivePlan& plan, const Watch& watch = {});

}  // namespace syncline
