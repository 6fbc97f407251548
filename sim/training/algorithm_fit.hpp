#pragma once

#include "sim/platform/cluster.hpp"
#include "sim/training/complaint.hpp"
#include "sim/training/plan.hpp"

/// Whether algorithms fit their parameters, the number of ranks and the size of the largest buffer.
namespace syncline {

void judge_algorithm(const AlgorithmSpec& algorithm, std::int64_t ranks, std::uint64_t bytes, Complaints& complaints);

/// Judges the algorithms that a selection may choose for `ranks`.
void judge_selection(const Selection& selection, const std::string& operation, const Cluster& cluster,
                     std::int64_t ranks, std::uint64_t bytes, Complaints& complaints);

/// Complains about a round that does not exist. The plan's algorithm must fit.
void judge_round(const CollectivePlan& plan, Complaints& complaints);

}  // namespace syncline
