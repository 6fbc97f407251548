#pragma once

#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/lowering/lowered.hpp"

/// What a rank's device computes in the window: the kernels of the compute model (kernels.hpp), each pass of each of
/// its layers once per micro-batch, and waits for launches, what is computed again, the addition of gradients, and the
/// optimizer's step. What these do not explain of `compute_s` is one more row: GEMMs in chunks, jitter, stragglers.
namespace syncline {

/// Returns the rows for one rank, the longest first; none if the compute model has no kernels. `compute_s` is its
/// computation time in a window of so many iterations, `step_s` the optimizer's part of it.
std::vector<KernelParts> kernel_parts(const Lowered& training, std::uint32_t rank, std::uint32_t iterations,
                                      double compute_s, double step_s);

}  // namespace syncline
