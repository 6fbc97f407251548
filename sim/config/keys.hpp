#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/document/fields.hpp"
#include "sim/lowering/compressed.hpp"
#include "sim/lowering/open_plan.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/complaint.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/trace_plan.hpp"
#include "sim/workload/kept.hpp"
#include "sim/workload/precision.hpp"

/// The parts of field tables, each in a file of its own; file_kinds.hpp has the tables of whole files.
namespace syncline::config {

inline constexpr std::int64_t largest_group = 1 << 20;

// Keys that a scenario's training and `syncline collective` share.

/// Describes the keys `overlay`, `segment` and `peers`.
void describe_algorithm(Fields& fields, AlgorithmSpec& algorithm);
void describe_schedule(Fields& fields, AlgorithmSpec& algorithm);
/// Describes the key `selection`.
void describe_selection(Fields& fields, std::optional<Selection>& selection);
/// Describes the key `fidelity`.
void describe(Fields& fields, Fidelity& fidelity);
/// Describes the key `placement`.
void describe(Fields& fields, RankPlacement& placement);
/// Describes the key `channels`.
void describe_channels(Fields& fields, std::optional<std::int64_t>& channels);
/// Describes the keys of an execution trace, and reads it.
void describe(Fields& fields, TracePlan& plan);
/// Describes the keys of a single exchange, without its platform.
void describe(Fields& fields, CollectivePlan& plan);

// Keys of a training.

/// Describes all of them, each by itself; what several of them say together is not checked.
void describe_training_keys(Fields& fields, Plan& plan, OpenPlan& open);
/// Describes the key `parallelism`: a word, which divides the work among all `ranks` in one way, or a product of ways.
void describe_parallelism(Fields& training, std::int64_t ranks, Parallelism& parallelism, OpenPlan& open);
/// Describe the keys `documents` and `loading`.
void describe_documents(Fields& training, std::optional<Documents>& documents);
void describe_loading(Fields& training, std::optional<Loading>& loading);
/// Describes the key `precision`.
void describe(Fields& fields, Precision& precision);
/// Describes the key `compression`.
void describe(Fields& fields, Compression& compression);
/// Describes the key `saved`.
void describe(Fields& fields, Saved& saved);

/// Rejects each complaint at its key.
void report(Fields& fields, const Complaints& complaints);
/// Returns the keys that are written, of those for OpenPlan::written.
std::vector<std::string> written_keys(const Fields& fields);

}  // namespace syncline::config
