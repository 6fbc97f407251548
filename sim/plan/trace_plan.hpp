#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sim/execution/execution_trace.hpp"
#include "sim/plan/fidelity.hpp"
#include "sim/plan/placement.hpp"

namespace syncline {

/// The replay of an execution trace on a cluster, in place of a training.
struct TracePlan {
    std::shared_ptr<const ExecutionTrace> trace;
    std::string name;  ///< of the file
    RankPlacement placement;
    Fidelity fidelity = Fidelity::message;
    /// Nodes of the rank's processor take their time, one after the other; else none, as if the device always had work.
    bool host_time = false;
    std::optional<double> eager_bytes = {};  ///< in place of the trace's own
    double speed = 1;                        ///< computation is so many times as fast as recorded
    std::int64_t pieces = 1;                 ///< of each collective, exchanged one after the other

    std::int64_t ranks() const { return trace->ranks; }
};

}  // namespace syncline
