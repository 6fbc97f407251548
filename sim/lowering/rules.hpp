#pragma once

#include <string>
#include <vector>

#include "sim/lowering/open_plan.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/complaint.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// Rules: which settings of a plan need or exclude others, or something that the model or the cluster has.
///
/// One table in rules.cpp has all of them. Rules about a plan alone are asked when it is settled (settle() in
/// open_plan.hpp), the others when it is judged for a model on a cluster (judge() in feasibility.hpp). A candidate of
/// `parallelism: auto` passes through both, and scenarios/limits.md lists the same table. A new rule needs a row there,
/// and nothing else.
///
/// A rule compares what is there. What has to be computed is judged elsewhere: divisors and batches in open_plan.cpp;
/// nodes, bytes and algorithms in feasibility.cpp; ranges of layers and the lowered plan in split_fit.cpp.
namespace syncline {

/// Returns a complaint for each broken rule about the plan alone, in the order of the table.
Complaints broken_rules(const Plan& plan, const OpenPlan& open);

/// Returns a complaint for each other broken rule. The model has the plan's sizes of elements (with_precision()).
Complaints broken_rules(const Plan& plan, const OpenPlan& open, const Model& model, const Cluster& cluster);

/// Do the same for a single exchange, which has the rules of a training without computation.
Complaints broken_rules(const CollectivePlan& plan, const OpenPlan& open);
Complaints broken_rules(const CollectivePlan& plan, const Cluster& cluster);

/// Returns the keys of which rules ask whether they are written: those for OpenPlan::written.
std::vector<std::string> keys_asked();

/// Returns all rules as a list in Markdown, one in a line.
std::string rules_reference();

}  // namespace syncline
