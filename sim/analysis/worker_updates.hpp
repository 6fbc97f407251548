#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/analysis/breakdown.hpp"

/// Training in which each worker's gradients are an update of their own (Servers::independent()), so that workers need
/// not have the same number of iterations in the same time.
///
/// Window. All is measured while all workers run: from the end of the first recorded iteration of the worker that ends
/// it last, to the end of the last one of the worker that ends it first. In it worker i ends k_i + 1 iterations in T_i
/// seconds from the first to the last of these, so that its rate is r_i = k_i / T_i, without an error of the window's
/// edges, and the staleness of these k_i updates counts. A worker with k_i = 0 is measured over all its iterations
/// instead, and a note says so.
///
/// Time. Of N workers an iteration is the time of N updates, N / Σ r_i; with workers of one speed it is the time of
/// each one's iteration. Its parts are means over the workers.
///
/// Staleness of an update is the number of updates by others that are applied after the worker has read the weights and
/// before its own: its mean is N - 1 for workers that read right after their own update, whatever their speeds, and
/// R / r_i - 1 for worker i, R = Σ r_i. Weights are read when their server begins to send them. Of updates applied at
/// the same instant those of lower ranks count as earlier; a worker that pulls at the instant of its own update reads
/// the weights right after it. Buckets, and their parts on several servers, count by themselves.
namespace syncline {

struct WorkerUpdates {
    double per_s = 0;  ///< Σ r_i
    std::vector<double> per_s_by_rank;
    double mean_staleness = 0;
    std::uint64_t largest_staleness = 0;
    std::vector<std::pair<std::uint64_t, double>> distribution;  ///< of staleness: value and share of the updates
    std::vector<double> staleness_by_rank;                       ///< means
    bool few = false;                                            ///< some worker has no rate in the window
    /// Number of recorded iterations that the fastest worker is ahead of the slowest when the window ends.
    std::uint64_t lead = 0;
};

WorkerUpdates updates_of(const TaskGraph& graph, const Timeline& timeline);

/// Returns the breakdown described above.
Breakdown measure_workers(const TaskGraph& graph, const Timeline& timeline);

}  // namespace syncline
