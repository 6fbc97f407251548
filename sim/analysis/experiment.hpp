#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/breakdown.hpp"
#include "sim/analysis/cost.hpp"
#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/measured.hpp"
#include "sim/analysis/theory.hpp"
#include "sim/analysis/utilisation.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/memory.hpp"
#include "sim/training/plan.hpp"

/// The question that a person asks, answered: how long does an iteration take?
namespace syncline {

/// One way of training, measured. Times are those of the rank that finishes last; counts are of one iteration.
struct Result {
    std::string variant;
    std::string workload;
    std::int64_t ranks = 0;
    std::int64_t samples = 0;                  ///< of all ranks together
    std::string fabric;                        ///< its shape, or the native platform's file
    std::string transport;                     ///< its name; empty where wires are all there is
    std::string exchange, algorithm, overlay;  ///< as in files; empty where there is none
    Parallelism parallelism;
    std::string choice_of;     ///< the variant that it is one grid of (`grid: auto`); empty: of none
    std::optional<bool> best;  ///< of such a choice: see mark_best()
    Breakdown time;
    /// Nothing if the iteration takes no time.
    std::optional<double> throughput_samples_per_s;
    Scaling scaling = Scaling::weak;
    /// See scaling.hpp. Nothing if an iteration takes no time; a note says so.
    std::optional<double> scaling_efficiency;
    Utilisation utilisation;
    std::uint64_t messages = 0;
    Folded folded;
    std::uint64_t bytes_sent = 0;
    std::uint64_t most_bytes_sent_by_rank = 0;  ///< servers are no ranks
    std::uint64_t gradient_bytes = 0;
    ClosedForm closed_form;
    Cost cost;
    Memory memory;
    std::vector<LinkLoad> links;  ///< the ten with the highest utilisation, that first
    /// What a reader must know to trust the numbers: one sentence each, without a full stop.
    std::vector<std::string> notes;
};

struct Report {
    std::string name;
    std::vector<Result> results;
};

/// Of the choices of one variant the one with the shortest iteration is the best, the first of several; the others are
/// not.
void mark_best(Report& report);

/// One replay of a plan, up to its measured iteration.
struct ReplayedIteration {
    TaskGraph graph;
    Timeline timeline;
    std::uint32_t window = 1;    ///< over how many iterations times and counts are averaged
    std::uint32_t measured = 0;  ///< the number of the last of them
    Folded folded;
    Breakdown time;
};

/// `recorded`: whose `messages` and `contention` are taken. In a process of its own.
ReplayedIteration replay_iteration(const Lowered& training, const Watch& watch = {},
                                   const ReplayOptions& recorded = {});
/// The same with the graph that build_iteration() made.
ReplayedIteration replay_iteration(const Lowered& training, TaskGraph graph, const Watch& watch = {},
                                   const ReplayOptions& recorded = {});

/// What a replay of `training` says; simulates, for the efficiency, the reference on one rank.
Result result_of(const Lowered& training, const ReplayedIteration& replayed, const Watch& watch = {});

/// Both.
Result simulate(const Lowered& training, const Watch& watch = {});

}  // namespace syncline
