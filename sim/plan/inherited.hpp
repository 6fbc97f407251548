#pragma once

#include <string>

/// Values that a plan has from a framework's preset (`training.framework`), and that the user has not written. Where a
/// written value would be refused because it has no meaning in the plan, an inherited one becomes the default.
namespace syncline {

struct Plan;

/// Returns whether the plan has inherited the value of `key`, a path within `training`.
bool inherits(const Plan& plan, const std::string& key);

/// Gives an inherited value its default. Returns false if `key` is not inherited, or has a meaning in every plan.
bool disinherit(Plan& plan, const std::string& key);

}  // namespace syncline
