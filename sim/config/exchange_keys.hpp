#pragma once

#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/document/fields.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/complaint.hpp"
#include "sim/plan/plan.hpp"

/// Keys that a scenario's training and `syncline collective` share: the choice of the algorithm and of the devices.
namespace syncline::config {

inline constexpr std::int64_t largest_group = 1 << 20;

/// Describes the keys `overlay`, `segment` and `peers`.
void describe_algorithm(Fields& fields, AlgorithmSpec& algorithm);

/// Describes the key `selection`.
void describe_selection(Fields& fields, std::optional<Selection>& selection);

/// Describes the keys of a single exchange, without its platform.
void describe(Fields& fields, CollectivePlan& plan);
/// Describes the key `fidelity`.
void describe(Fields& fields, Fidelity& fidelity);

/// Describes the key `placement`.
void describe(Fields& fields, RankPlacement& placement);

/// Describes the key `channels`.
void describe_channels(Fields& fields, std::optional<std::int64_t>& channels);

/// Rejects each complaint at its key.
void report(Fields& fields, const Complaints& complaints);

/// Returns the keys that are written, of those for OpenPlan::written.
std::vector<std::string> written_keys(const Fields& fields);

}  // namespace syncline::config
