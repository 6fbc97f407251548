#pragma once

namespace syncline {

/// Optimizer state per parameter, in addition to weight and gradient: nothing, a momentum, or two moments (Adam).
/// `none`: weights are not updated, as in a measurement of forward and backward passes.
enum class Optimizer { none, sgd, momentum, adam };

/// Returns the number of values that the optimizer keeps for each weight.
constexpr double kept_values(Optimizer optimizer) {
    return optimizer == Optimizer::adam ? 2 : optimizer == Optimizer::momentum ? 1 : 0;
}

}  // namespace syncline
