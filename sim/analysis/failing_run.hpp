#pragma once

#include <cstdint>
#include <optional>
#include <string>

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
/// Left out: loading of the checkpoint beside the restart's time; traffic of checkpoints on the fabric; what the
/// storage costs; steps of the last interval that `run` does not need.
namespace syncline {

struct FailingRun {
    double mtbf_s = 0;                   ///< of the whole job; infinite if nothing fails
    std::optional<double> bytes = {};    ///< of a checkpoint; nothing if the plan gives the time to write it
    double write_s = 0, blocking_s = 0;  ///< time to write a checkpoint; for which it stops the training
    double restart_s = 0;
    double interval_s = 0;           ///< useful time between checkpoints
    double young_s = 0, daly_s = 0;  ///< optimum intervals; infinite if nothing fails
    double expected_s = 0;           ///< elapsed time, by Daly's formula
    std::optional<Goodput> goodput;  ///< nothing: the run would not end
};

/// Returns nothing if the platform has no failures and the plan no checkpoints, or if nothing says how long checkpoints
/// take. `nodes`: those of servers, too.
std::optional<FailingRun> failing_run(const Lowered& training, std::int64_t nodes, double iterations,
                                      double iteration_s);

/// Returns a note for readers of a run: that failures are not counted, and why, or that the run would not end.
std::string failures_note(const Lowered& training, std::int64_t nodes, const std::optional<FailingRun>& run);

}  // namespace syncline
