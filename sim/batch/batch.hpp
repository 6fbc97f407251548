#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/batch/store.hpp"

/// Runs what is pending in a store, in a pool of processes.
///
/// Several programs may do so on one store at once: a run under way is claimed by a lock on a byte of a file beside the
/// store, which the kernel lets go when the program that holds it dies.
namespace syncline::batch {

struct BatchOptions {
    std::size_t jobs = 1;
    std::optional<double> timeout_s;
    bool retry_failed = false;
};

struct BatchProgress {
    std::int64_t total = 0, done = 0, failed = 0;  ///< of the runs to be done now
    double elapsed_s = 0;
};

struct BatchOutcome {
    std::int64_t done = 0, failed = 0;
    bool interrupted = false;  ///< by Ctrl-C or SIGTERM: what was under way is lost, the rest is in the store
};

/// Runs the given runs, or those of a study's points that are to be run. `watch` is called a few times per second.
BatchOutcome run_batch(Store& store, const std::vector<std::string>& runs, const BatchOptions& options,
                       const std::function<void(const BatchProgress&)>& watch);

}  // namespace syncline::batch
