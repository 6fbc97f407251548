#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "sim/base/lazy.hpp"
#include "sim/platform/factors.hpp"
#include "sim/platform/matrix_product.hpp"

/// Times of matrix products by shape, from a measured grid: every combination of some m, n, k and batch sizes. Between
/// its points the logarithm of the time is linear in that of each extent. Outside, at extents four times as large or
/// small as the next ones, down to 16 and up to 2^18 (a batch: 1 and 2^12), a product takes the time of the nearest
/// grid point times the ratio of two modelled times. Larger extents take time in proportion; smaller ones save none. No
/// product takes longer than a larger one, which could be computed instead: a measured time that is longer than that of
/// a larger product becomes the latter (smoothed()), and a modelled one that is shorter than a smaller product's
/// likewise. A grid is extended when it is first asked: a device has
/// many, of which a training asks few.
namespace syncline {

struct MeasuredProduct {
    MatrixProduct product;
    double flops_per_s = 0;
    Factors factors = Factors::half;
};

class ProductTable {
public:
    /// Returns the modelled time of a product.
    using Modelled = std::function<double(const MatrixProduct&)>;

    /// The rows have the same factors. `modelled` owns what it needs. Throws std::invalid_argument if they are not a
    /// grid with at least two values of m, of n and of k.
    ProductTable(const std::vector<MeasuredProduct>& rows, const Modelled& modelled);

    /// Returns the time of a product.
    double seconds(const MatrixProduct& product) const;

    struct Smoothed {
        std::size_t points = 0;  ///< number of measured times that were changed
        double most = 1;         ///< largest ratio of a measured time to the one that replaces it
    };
    const Smoothed& smoothed() const { return smoothed_; }

private:
    static constexpr std::size_t dimensions = 4;  ///< m, n, k, batch
    using Extents = std::array<double, dimensions>;
    using Indices = std::array<std::size_t, dimensions>;

    struct Grid {
        std::array<std::vector<double>, dimensions> axes;  ///< ascending
        std::vector<double> seconds;                       ///< by the indices of m, n, k, batch

        std::size_t at(const Indices& indices) const;
        Extents extents(std::size_t point) const;
        /// Calls `take` with each neighbour of a point that has the next larger value of one extent.
        template <class Take>
        void each_larger(std::size_t point, const Take& take) const;
    };

    ProductTable(const Modelled& modelled, Grid grid);

    static Grid measure(const std::vector<MeasuredProduct>& rows);
    static Smoothed smooth(Grid& grid);
    /// Returns the grid with points on all sides, whose axes and times are logarithms.
    static Grid extend(const Grid& grid, const Modelled& modelled);

    Smoothed smoothed_;
    Lazy<Grid> extended_;
};

}  // namespace syncline
