#pragma once

#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/measured/measured.hpp"

namespace syncline::config {

/// Reports values that a parameter would replace: it is applied to every row's scenario after the changes of the row
/// and its series, and before `--set`. A series may set a mapping of which the parameter is a part. `measured` is the
/// content of the key, `last` are the values of `--set`.
void check_overrides(Assembly& assembly, const Measurements& measurements, const Node& measured,
                     const std::vector<Node>& last);

/// Reports keys that `alternative` changes and that a parameter would replace.
void check_alternative(Assembly& assembly, const Measurements& measurements, const Alternative& alternative);

}  // namespace syncline::config
