#pragma once

#include <string>
#include <vector>

/// Fraction of its peak that a device reaches, as a function of the amount of work. Between two points (x, e) log e is
/// linear in log x; before the first and after the last point it is constant. If, from point to point, e neither falls
/// with x nor grows faster than x, divided work takes less time, but never less than its share.
namespace syncline {

struct EfficiencyCurve {
    enum class Over { batch, gemm };

    struct Point {
        double at = 1;  ///< samples that the device processes together, or the smallest of a matrix product's m, n, k
        double fraction = 1;  ///< fraction of the peak, above 0 and at most 1
    };

    Over over = Over::batch;
    std::vector<Point> points;  ///< at least one, by `at`, all different

    /// Returns the fraction of the peak at `x`, above 0.
    double at(double x) const;
};

}  // namespace syncline
