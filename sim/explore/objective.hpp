#pragma once

#include <string>

#include "sim/base/diagnostics.hpp"
#include "sim/study/study.hpp"

/// The objective to minimise or maximise.
namespace syncline::batch {

struct Objective {
    config::Condition expression;  ///< over a Table's columns
    bool most = false;             ///< larger is better
};

/// Parses an objective. `throughput`, `scaling_efficiency`, `tokens_per_s`, utilisations of the devices' peak and
/// bandwidths are maximised, everything else is minimised, unless a prefix `max:` or `min:` is given. Throws
/// ConfigError if it is empty.
Objective parse_objective(const config::Condition& text);

/// Returns whether `a` is better than `b`.
inline bool better(const Objective& objective, double a, double b) {
    return objective.most ? a > b : a < b;
}

}  // namespace syncline::batch
