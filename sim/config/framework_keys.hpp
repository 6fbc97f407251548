#pragma once

#include <string>
#include <vector>

#include "sim/document/document.hpp"
#include "sim/document/fields.hpp"
#include "sim/plan/plan.hpp"

/// Frameworks: presets of the keys of `training` that describe software, by their last names: `gathering` is
/// `training.parallelism.gathering`. Its values take the place of the defaults; a written key overrides them. A preset
/// may be based on another one, whose keys its own change. A key that has no meaning in a plan has no effect there.
namespace syncline::config {

/// The content of such a file.
struct FrameworkFile {};

/// Describes the file, for its schema and to check it.
void describe(Fields& fields, FrameworkFile& file);

/// Describes the key `framework`, whose values become those of `plan`.
void describe_framework(Fields& training, Plan& plan);

/// Notes in the plan the keys that the framework says and the scenario does not. Must be called after all keys are
/// read.
void note_inherited(const Fields& training, Plan& plan);

/// Returns the place of a key of `training` in its framework: `framework.gathering` for `parallelism.gathering`;
/// nothing if the framework does not have it.
std::string place_in_framework(const Fields& training, const std::string& key);

/// Returns whether the keys are those of a framework.
bool is_framework(const Node& document);

}  // namespace syncline::config
