#pragma once

#include <algorithm>

namespace syncline {

/// A batch of matrix products of the same size, (m × k) times (k × n).
struct MatrixProduct {
    double m = 0, n = 0, k = 0;
    double batch = 1;

    double narrowest() const { return std::min({m, n, k}); }
    double flops() const { return 2 * m * n * k * batch; }
    /// Returns the number of elements that it reads and writes, each once.
    double elements() const { return (m * n + m * k + k * n) * batch; }
};

}  // namespace syncline
