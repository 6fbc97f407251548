#pragma once

#include "sim/lowering/feasibility.hpp"

/// What the files of feasibility.hpp use of each other.
namespace syncline {

/// Judges whether an algorithm fits its parameters, the number of ranks and the size of the largest buffer.
void judge_algorithm(const AlgorithmSpec& algorithm, std::int64_t ranks, std::uint64_t bytes, Complaints& complaints);

/// Does the same for the algorithms that a selection may choose for `ranks`.
void judge_selection(const Selection& selection, const std::string& operation, const Cluster& cluster,
                     std::int64_t ranks, std::uint64_t bytes, Complaints& complaints);

/// Judges whether the device has a time for each of the model's layers.
void judge_layer_times(const Model& model, const Device& device, Complaints& complaints);

/// Judges a plan's ranges of layers, the parts of its pipeline, and the plan as a whole by lowering it, or each choice
/// of an open plan. The cluster, which has its nodes, and the ranks of a stage must fit.
void judge_split(const Cluster& cluster, const Model& model, const Plan& plan, const OpenPlan& open,
                 Feasibility& found);

}  // namespace syncline
