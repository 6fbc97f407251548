#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/analysis/fewer_replicas.hpp"
#include "sim/analysis/goodput.hpp"
#include "sim/lowering/lowered.hpp"

/// The whole run of a training on a cluster whose parts fail: rates of failures, checkpoints, and the goodput that
/// follows from them and the simulated iteration (goodput.hpp).
///
/// - A checkpoint has one copy of the weights and of the optimizer's state, as in device_memory.hpp: parameters ·
///   (weight + master copy + moments), 14 B each with Adam and weights in 2 bytes. It takes bytes / the bandwidth of
///   the storage. 2.3 TB of BLOOM's 176 billion parameters are 13.1 B each.
/// - A blocking one stops the training for that time; an overlapped one for the copy of the state of the fullest rank
///   to its host, by default state / Device::host_link_Bps, and no later checkpoint starts while one is written.
/// - The interval is that of the plan, or Daly's optimum for the blocking time (checkpoint_interval.hpp), at least the
///   time to write an overlapped one; in whole iterations.
///
/// - A failure breaks a node until it is repaired, if the plan says how long that takes: goodput.hpp says what spare
///   nodes do, fewer_replicas.hpp how the training goes on without some.
/// - Energy: all nodes, with spare and broken ones, take their idle power all the time, also during checkpoints,
///   restarts and waiting. Iterations that are computed, kept or lost, add what they take above that. So they do in the
///   cost, where all nodes are paid for all the time.
///
/// Left out: loading of the checkpoint beside the restart's time; traffic of checkpoints on the fabric; what the
/// storage costs; steps of the last interval that `run` does not need.
namespace syncline {

struct FailingRun {
    double mtbf_s = 0;                   ///< of the whole job; infinite if nothing fails
    std::optional<double> bytes = {};    ///< of a checkpoint; nothing if the plan gives the time to write it
    double write_s = 0, blocking_s = 0;  ///< time to write a checkpoint; for which it stops the training
    double restart_s = 0;
    double repair_s = 0;             ///< 0: broken nodes are replaced at once
    double more_nodes = 1;           ///< nodes with those that stand by / nodes in use
    double interval_s = 0;           ///< useful time between checkpoints
    double young_s = 0, daly_s = 0;  ///< optimum intervals; infinite if nothing fails
    /// Elapsed time, by Daly's formula and Erlang's (checkpoint_interval.hpp); infinite, as not known, with fewer
    /// replicas.
    double expected_s = 0;
    std::optional<Goodput> goodput;  ///< nothing: the run would not end
    std::optional<Spread> energy_J;  ///< of the sampled runs; nothing: not known
    double idle_W = 0;               ///< power of all nodes when idle, with those that stand by; 0: not known
    /// Time for an iteration's samples with fewer replicas, by their number, as far as sampled runs had them.
    std::map<std::int64_t, double> fewer_replicas_s = {};
};

/// What is known of a training beside its iteration's time.
struct Known {
    double energy_J = 0;         ///< of an iteration, with `pue`; 0: not known
    double idle_W = 0;           ///< of a node: see energy.hpp
    IterationOf iteration = {};  ///< of the training with fewer replicas
};

/// Returns nothing if the platform has no failures and the plan no checkpoints, or if nothing says how long checkpoints
/// take. `nodes`: those of servers, too.
std::optional<FailingRun> failing_run(const Lowered& training, std::int64_t nodes, double iterations,
                                      double iteration_s, const Known& known = {});

/// Returns a note for readers of a run: that failures are not counted, and why, or that the run would not end.
std::string failures_note(const Lowered& training, std::int64_t nodes, const std::optional<FailingRun>& run);

}  // namespace syncline
