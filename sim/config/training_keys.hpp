#pragma once

#include "sim/document/fields.hpp"
#include "sim/lowering/open_plan.hpp"
#include "sim/plan/plan.hpp"

namespace syncline::config {

/// Describes the keys of `training`, each by itself; what several of them say together is not checked.
void describe_training_keys(Fields& fields, Plan& plan, OpenPlan& open);

}  // namespace syncline::config
