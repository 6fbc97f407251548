#pragma once

#include <cstddef>
#include <vector>

#include "sim/workload/kernels.hpp"

/// Kernels of a layer under PyTorch's autocast to 16 bits (torch.autocast; lists of operations in
/// aten/src/ATen/autocast_mode.h). Products take 2 bytes. Normalisations, the loss and the sums of a transformer's
/// halves, which the embedding begins, have 4. For each value between the halves:
///
///     normalisation              reads and writes 4 bytes, its backward pass 3 times and, for scale and shift, 2 times
///     conversion of its result   4 + 2 bytes; backward of its gradient 2 + 4
///     residual addition          4 + 2 for each branch + 4; backward 4 for each gradient and the sum
///     conversion for a branch    backward: 4 + 2
///
/// and for each weight 4 + 2 bytes in the forward pass (once), and 2 + 4 for its gradient. Compiled code converts where
/// it reads and writes, without kernels. Left out: experts, softmax of stored scores in 4 bytes, embeddings.
namespace syncline {

/// Returns a layer's kernels of a pass under autocast, with `values` between its halves. With branches, whose residual
/// addition is the last kernel, unless it is the pass of the weights.
std::vector<Kernel> autocast(std::vector<Kernel> kernels, Pass pass, double values, std::size_t branches,
                             bool separate);

}  // namespace syncline
