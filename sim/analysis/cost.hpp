#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "sim/analysis/energy.hpp"
#include "sim/analysis/failing_run.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Resources and cost of an iteration or a single collective operation: cost = nodes · price of a node per hour ·
/// seconds / 3600, in the currency of the price. A node counts as a whole, also with servers alone. Left out: start and
/// end of trainings, storage, traffic, discounts.
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

    /// Number of samples of a curve (samples_to_accuracy.hpp), if it gives the length.
    std::optional<double> samples_to_accuracy = {};

    /// Returns the cost of an elapsed time: all nodes, with those that stand by, are paid for all the time.
    std::optional<double> cost_of(double elapsed_s) const {
        const double more_nodes = failing ? failing->more_nodes : 1;
        return cost ? std::optional(elapsed_s * more_nodes * (*cost / time_s)) : std::nullopt;
    }
};

/// Iteration of which a training has many.
struct Repeated {
    double iteration_s = 0;
    Cost cost;
    std::optional<Energy> energy;
    std::optional<double> staleness = {};  ///< mean, as measured; nothing: Plan::exchange_delay
    IterationOf fewer = {};                ///< estimates or simulates it with fewer replicas
};

/// Returns nothing if the plan has no Plan::run, or if its curve does not say how many samples are needed:
/// why_no_run().
std::optional<WholeRun> whole_run(const Lowered& training, const Repeated& iteration);

/// Returns a note if the plan's curve does not give the length.
std::string why_no_run(const Lowered& training, const std::optional<double>& staleness);

}  // namespace syncline
