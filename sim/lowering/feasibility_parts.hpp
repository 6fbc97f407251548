#pragma once

#include "sim/lowering/feasibility.hpp"

/// What the files of feasibility.hpp use of each other.
namespace syncline {

/// Judges whether an algorithm fits its parameters, the number of ranks and the size of the largest buffer.
void judge_algorithm(const AlgorithmSpec& algorithm, std::int64_t ranks, std::uint64_t bytes, Complaints& complaints);

/// Does the same for the algorithms that a selection may choose for `ranks`.
void judge_selection(const Selection& selection, const std::string& operation, const Cluster& cluster,
                     std::int64_t ranks, std::uint64_t bytes, Complaints& complaints);

/// Judges a plan's precision and compression for a model with its sizes of elements, and a device.
void judge_precision(const Model& model, const Plan& plan, const Device& device, Complaints& complaints);

/// Judges whether the model and the compute model have what is to be computed again.
void judge_recomputation(const Model& model, const Plan& plan, Complaints& complaints);

/// Judges whether the cluster and the plan can keep state in the host's memory.
void judge_offload(const Cluster& cluster, const Model& model, const Plan& plan, Complaints& complaints);

/// Judges a plan's ranges of layers, the parts of its pipeline, and the plan as a whole by lowering it, or each choice
/// of an open plan. The cluster, which has its nodes, and the ranks of a stage must fit.
void judge_split(const Cluster& cluster, const Model& model, const Plan& plan, const OpenPlan& open,
                 Feasibility& found);

}  // namespace syncline
