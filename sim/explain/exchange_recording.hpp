#pragma once

#include <cstdint>

#include "sim/analysis/observed.hpp"
#include "sim/explain/explanation.hpp"
#include "sim/plan/collective_plan.hpp"

/// Recording of a single collective operation, for pictures: the messages that explain() records of a training.
namespace syncline {

struct ExchangeRecording {
    /// The window is from the start of the operation to its end, of all rounds if peers change. Empty if one rank
    /// exchanges nothing.
    TimelineView view;
    AlgorithmSpec spec;  ///< what was executed; its name and operation are those of files
    std::int64_t ranks = 0;
};

/// Returns the largest size of the plan's sweep, or its one size.
std::uint64_t largest_size(const CollectivePlan& plan);

/// Simulates the operation at one size, message by message. Throws as simulate_collective() does.
ExchangeRecording record_exchange(const Cluster& cluster, const CollectivePlan& plan, std::uint64_t bytes,
                                  const Watch& watch = {});

}  // namespace syncline
