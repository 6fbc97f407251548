#pragma once

#include "sim/document/fields.hpp"
#include "sim/platform/kernel_rates.hpp"

namespace syncline::config {

/// Describes the measured rates of a device's kernels, whose `multiprocessors` are set.
void describe(Fields& fields, KernelRates& rates);

}  // namespace syncline::config
