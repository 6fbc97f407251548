#pragma once

#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/config/measured.hpp"

namespace syncline::config {

/// A parameter's value goes into every row's scenario after what the row and its series say, and before `--set`: what
/// would be lost by that is reported. `measured` is what stands under the key, `last` are the values of `--set`.
///
/// A series may set a whole of which the parameter is a part, such as another transport.
void check_overrides(Assembly& assembly, const Measurements& measurements, const Node& measured,
                     const std::vector<Node>& last);

}  // namespace syncline::config
