#pragma once

#include <string>
#include <vector>

/// Which part of its peak a device reaches, by how large the work is: small batches and narrow matrices leave
/// multiprocessors idle, so that fewer, fatter matrices run faster.
///
/// Between two points (x, e) the part is a power of x: log e is linear in log x. Before the first and behind the last
/// point it is theirs. Where neither e falls with x nor grows faster than x from point to point, the same holds between
/// them: work that is cut takes less time, but never less than its share.
namespace syncline {

struct EfficiencyCurve {
    enum class Over { batch, gemm };

    struct Point {
        double at = 1;    ///< samples that the device has at once, or the smallest of a matrix product's m, n, k
        double part = 1;  ///< of the peak, above 0 and at most 1
    };

    Over over = Over::batch;
    std::vector<Point> points;  ///< at least one, by `at`, all different

    /// The part of the peak at `x`, above 0.
    double at(double x) const;
};

}  // namespace syncline
