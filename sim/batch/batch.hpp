#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/store/store.hpp"

/// Runs the pending runs of a store in a pool of processes. Several programs may do so on one store: see claims.hpp.
namespace syncline::batch {

struct BatchOptions {
    std::size_t jobs = 1;
    std::optional<double> timeout_s;
    bool retry_failed = false;
    bool force = false;  ///< also simulations that are too large: see analysis/estimate.hpp
};

struct BatchProgress {
    std::int64_t total = 0, done = 0, failed = 0;  ///< of the runs of this batch
    double elapsed_s = 0;
};

struct BatchOutcome {
    std::int64_t done = 0, failed = 0;
    bool interrupted = false;  ///< by Ctrl-C or SIGTERM: active runs are lost, all others are in the store
};

/// Runs `runs`. `watch` is called a few times per second. Throws OutputError if the store was damaged meanwhile.
BatchOutcome run_batch(Store& store, const std::vector<std::string>& runs, const BatchOptions& options,
                       const std::function<void(const BatchProgress&)>& watch);

}  // namespace syncline::batch
