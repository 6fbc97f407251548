#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "sim/analysis/energy.hpp"
#include "sim/analysis/failing_run.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Resources and cost of an iteration or a single collective operation: cost = nodes · price of a node per hour ·
/// seconds / 3600, in the currency of the price. A node counts as a whole, also with servers alone. Left out: standby
/// nodes, start and end of trainings, storage, traffic, discounts.
namespace syncline {

struct Cost {
    std::int64_t nodes = 0;      ///< number of nodes with ranks or servers
    double device_time_s = 0;    ///< ranks · seconds
    std::optional<double> cost;  ///< empty if nodes have no price

    /// Returns the cost per million samples, to compare plans with different numbers of samples per iteration; nothing
    /// without a price or samples.
    std::optional<double> per_million_samples(std::int64_t samples) const;
};

/// Return the cost of `seconds` of this number of nodes of the first kind, of these nodes, and of the replay of
/// `graph`. Without the price of a kind of which there are nodes there is none.
Cost cost_of(const Cluster& cluster, std::int64_t nodes, std::int64_t ranks, double seconds);
Cost cost_of(const Cluster& cluster, const std::set<std::uint32_t>& nodes, std::int64_t ranks, double seconds);
Cost cost_of(const Cluster& cluster, const TaskGraph& graph, std::int64_t ranks, double seconds);

/// Time, cost and energy of the whole training of which one iteration was simulated: its number of iterations
/// (sim/plan/run_length.hpp) times those of one, without failures, and its time with them.
struct WholeRun {
    double iterations = 0;
    double time_s = 0;
    std::optional<double> cost;              ///< empty if nodes have no price
    std::optional<double> energy_J;          ///< without failures; empty if no part's power is known
    std::optional<FailingRun> failing = {};  ///< with failures and checkpoints, if they are known

    /// Returns the cost of an elapsed time: nodes are paid for during checkpoints and restarts, too.
    std::optional<double> cost_of(double elapsed_s) const {
        return cost ? std::optional(elapsed_s * (*cost / time_s)) : std::nullopt;
    }
};

/// Returns nothing if the plan has no Plan::run. `cost` and `energy` are those of an iteration.
std::optional<WholeRun> whole_run(const Lowered& training, double iteration_s, const Cost& cost,
                                  const std::optional<Energy>& energy);

}  // namespace syncline
