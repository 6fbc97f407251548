#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/cost.hpp"
#include "sim/analysis/observed.hpp"
#include "sim/lowering/chooser.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/taskgraph/rotations.hpp"

/// Simulation of a single collective operation, at one or several sizes. Algorithm bandwidth is the buffer size divided
/// by the time; bus bandwidth that times all-reduce 2(N-1)/N; reduce-scatter, allgather, all-to-all, gather and scatter
/// (N-1)/N; others 1; none if only some ranks contribute or receive. Source: nccl-tests, doc/PERFORMANCE.md, where
/// `bytes` is the larger of both buffers, as here.
namespace syncline {

/// Returns the ratio of bus bandwidth to algorithm bandwidth.
double bus_factor(const std::string& operation, double ranks);

/// Result of a single collective operation.
struct CollectiveResult {
    std::string operation, algorithm, overlay, fabric, transport;
    std::uint32_t ranks = 0, contributors = 0, receivers = 0;
    std::uint32_t rounds = 1;  ///< times, messages and bytes are means over this number of rounds
    std::uint64_t bytes = 0;
    double completion_time_s = 0;
    Cost cost;
    std::optional<double> closed_form_s;
    std::uint64_t messages = 0;
    Folded folded;
    std::uint64_t bytes_sent = 0;
    std::uint64_t most_bytes_sent_by_rank = 0;
    std::vector<std::uint64_t> sent_by, received_by;  ///< by rank
    std::vector<LinkLoad> links;                      ///< the ten most utilised links, the most utilised first
    std::string limited_by;                           ///< see limit.hpp
    std::vector<std::string> notes;                   ///< as in Result
    /// Empty if the operation takes no time.
    std::optional<double> algorithm_bandwidth_Bps, bus_bandwidth_Bps;
};

/// Returns the rotations under which some ranks stand for the others in a replay that folds, as far as a few routes
/// show (symmetry.hpp). `chosen`: the result of choose_exchanges (sweep.hpp).
Rotations rotations_of(const Cluster& cluster, const CollectivePlan& plan, const std::vector<Chosen>& chosen);

/// Returns the closed form that simulate_collective() would report, without simulating.
std::optional<double> closed_form_s(const Cluster& cluster, const CollectivePlan& plan);

CollectiveResult simulate_collective(const Cluster& cluster, const CollectivePlan& plan, const Watch& watch = {});

/// Result of one size of a sweep.
struct SweepPoint {
    std::uint64_t bytes = 0;
    std::string algorithm;
    double completion_time_s = 0;
    Cost cost;
    std::optional<double> closed_form_s;
    std::optional<double> algorithm_bandwidth_Bps, bus_bandwidth_Bps;
    /// See limit.hpp. Links count bytes of all sizes together: empty if the algorithm depends on the size.
    std::string limited_by;
};

struct SweepResult {
    std::string variant;  ///< variant of a scenario
    std::string operation, algorithm, overlay, fabric, transport;
    std::uint32_t ranks = 0, contributors = 0, receivers = 0;
    std::uint32_t rounds = 1;        ///< times are means over this number of rounds
    Folded folded;                   ///< of all sizes together
    std::vector<std::string> notes;  ///< as in Result
    std::vector<SweepPoint> points;
};

/// The sweeps of a scenario's variants.
struct SweepReport {
    std::string name;
    std::vector<SweepResult> results;
};

/// Simulates all sizes one after the other, in a single simulation.
SweepResult simulate_sweep(const Cluster& cluster, const CollectivePlan& plan, const Watch& watch = {});

}  // namespace syncline
