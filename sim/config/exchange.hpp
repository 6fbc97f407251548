#pragma once

#include "sim/collective/algorithm.hpp"
#include "sim/document/fields.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/training/plan.hpp"

/// Keys that a scenario's training and `syncline collective` share: the choice of the algorithm and of the devices.
namespace syncline::config {

inline constexpr std::int64_t largest_group = 1 << 20;

/// Describes the keys `overlay`, `segment` and `peers`.
void describe_algorithm(Fields& fields, AlgorithmSpec& algorithm);

/// Describes the key `selection`.
void describe_selection(Fields& fields, std::optional<Selection>& selection);

/// Describes the keys of a single exchange, without its platform.
void describe(Fields& fields, CollectivePlan& plan);
/// Rejects a plan that does not fit the cluster. A cluster of as many nodes as needed gets its number of nodes.
void check_collective(Fields& fields, const CollectivePlan& plan, Cluster& cluster);

/// Describe the key `fidelity`, and reject platforms with which it does not work.
void describe(Fields& fields, Fidelity& fidelity);
void check_fidelity(Fields& fields, Fidelity fidelity, const Cluster& cluster);

/// Describes the key `placement`.
void describe(Fields& fields, RankPlacement& placement);

/// Reject listed devices that do not fit the cluster, and an algorithm that does not fit its parameters, the number of
/// ranks or the size of the largest buffer.
void check_placement(Fields& fields, const Cluster& cluster, const RankPlacement& placement, std::int64_t ranks);
void check_algorithm(Fields& fields, const AlgorithmSpec& algorithm, std::int64_t ranks, std::uint64_t bytes);
/// Does the same for the algorithms that a selection may choose for `ranks`, and rejects the keys that it replaces.
void check_selection(Fields& fields, const Selection& selection, const std::string& operation, const Cluster& cluster,
                     std::int64_t ranks, std::uint64_t bytes);
/// Rejects the algorithms' keys, which have no effect with a parameter server.
void check_no_algorithm(Fields& fields);

}  // namespace syncline::config
