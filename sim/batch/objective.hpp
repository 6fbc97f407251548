#pragma once

#include <string>

#include "sim/base/diagnostics.hpp"
#include "sim/config/study.hpp"

/// What is to be as small, or as large, as it can be.
namespace syncline::batch {

struct Objective {
    config::Condition expression;  ///< over a Table's columns
    bool most = false;             ///< larger is better
};

/// `throughput`, `scaling_efficiency`, `tokens_per_s`, what is reached of devices' peak and bandwidths are to be large,
/// everything else small, unless a prefix `max:` or `min:` says so. Throws ConfigError if there is nothing.
Objective parse_objective(const config::Condition& text);

/// Is `a` better than `b`?
inline bool better(const Objective& objective, double a, double b) {
    return objective.most ? a > b : a < b;
}

}  // namespace syncline::batch
