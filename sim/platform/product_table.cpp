#include "sim/platform/product_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace syncline {

namespace {

constexpr std::array extent_names{"m", "n", "k", "batch"};
/// Factor between extents outside of the grid, and the range that these cover.
constexpr double stride = 4;
constexpr double least_extent = 16, most_extent = 1 << 18, most_batch = 1 << 12;

std::array<double, 4> extents_of(const MatrixProduct& product) {
    return {product.m, product.n, product.k, product.batch};
}

MatrixProduct product_of(const std::array<double, 4>& extents) {
    return {extents[0], extents[1], extents[2], extents[3]};
}

/// Returns the axis with further values on both sides.
std::vector<double> extended(std::vector<double> axis, double least, double most) {
    while (axis.front() > least) axis.insert(axis.begin(), std::max(least, axis.front() / stride));
    while (axis.back() < most) axis.push_back(std::min(most, axis.back() * stride));
    return axis;
}

}  // namespace

std::size_t ProductTable::Grid::at(const Indices& indices) const {
    std::size_t point = 0;
    for (std::size_t d = 0; d < dimensions; ++d) point = point * axes[d].size() + indices[d];
    return point;
}

ProductTable::Extents ProductTable::Grid::extents(std::size_t point) const {
    Extents result{};
    for (std::size_t d = dimensions; d-- > 0; point /= axes[d].size()) result[d] = axes[d][point % axes[d].size()];
    return result;
}

template <class Take>
void ProductTable::Grid::each_larger(std::size_t point, const Take& take) const {
    std::size_t step = 1;
    for (std::size_t d = dimensions; d-- > 0; step *= axes[d].size())
        if (point / step % axes[d].size() + 1 < axes[d].size()) take(point + step);
}

ProductTable::ProductTable(const std::vector<MeasuredProduct>& rows, const Modelled& modelled)
    : ProductTable(modelled, measure(rows)) {}

ProductTable::ProductTable(const Modelled& modelled, Grid grid)
    : smoothed_(smooth(grid)), extended_([grid = std::move(grid), modelled] { return extend(grid, modelled); }) {}

ProductTable::Grid ProductTable::measure(const std::vector<MeasuredProduct>& rows) {
    Grid grid;
    std::size_t points = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
        std::vector<double>& axis = grid.axes[d];
        for (const MeasuredProduct& row : rows) axis.push_back(extents_of(row.product)[d]);
        std::sort(axis.begin(), axis.end());
        axis.erase(std::unique(axis.begin(), axis.end()), axis.end());
        if (axis.size() < (d < 3 ? 2U : 1U))
            throw std::invalid_argument(fmt::format("there are fewer than two values of {}", extent_names[d]));
        points *= axis.size();
    }
    // Rows of one grid are as many as its points if none is missing and none is there twice.
    if (points > 1 << 20) throw std::invalid_argument("the rows are no grid");
    grid.seconds.assign(points, 0);
    for (const MeasuredProduct& row : rows) {
        const Extents extents = extents_of(row.product);
        Indices indices{};
        for (std::size_t d = 0; d < dimensions; ++d)
            indices[d] = static_cast<std::size_t>(
                std::lower_bound(grid.axes[d].begin(), grid.axes[d].end(), extents[d]) - grid.axes[d].begin());
        double& measured_s = grid.seconds[grid.at(indices)];
        if (measured_s > 0)
            throw std::invalid_argument(fmt::format("the product m = {}, n = {}, k = {}, batch {} is listed twice",
                                                    extents[0], extents[1], extents[2], extents[3]));
        measured_s = row.product.flops() / row.flops_per_s;
    }
    for (std::size_t point = 0; point < points; ++point) {
        const Extents missing = grid.extents(point);
        if (grid.seconds[point] == 0)
            throw std::invalid_argument(fmt::format("the product m = {}, n = {}, k = {}, batch {} is missing",
                                                    missing[0], missing[1], missing[2], missing[3]));
    }
    return grid;
}

ProductTable::Smoothed ProductTable::smooth(Grid& grid) {
    Smoothed smoothed;
    std::vector<double>& seconds = grid.seconds;
    // From the largest point down, each point's larger neighbours are final.
    for (std::size_t point = seconds.size(); point-- > 0;) {
        const double measured = seconds[point];
        grid.each_larger(point,
                         [&](std::size_t larger) { seconds[point] = std::min(seconds[point], seconds[larger]); });
        if (seconds[point] == measured) continue;
        ++smoothed.points;
        smoothed.most = std::max(smoothed.most, measured / seconds[point]);
    }
    return smoothed;
}

ProductTable::Grid ProductTable::extend(const Grid& grid, const Modelled& modelled) {
    Grid whole;
    std::size_t points = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
        whole.axes[d] = extended(grid.axes[d], d < 3 ? least_extent : 1, d < 3 ? most_extent : most_batch);
        points *= whole.axes[d].size();
    }
    std::vector<double> modelled_s(grid.seconds.size());
    for (std::size_t point = 0; point < modelled_s.size(); ++point)
        modelled_s[point] = modelled(product_of(grid.extents(point)));
    std::vector<double>& seconds = whole.seconds;
    seconds.resize(points);
    for (std::size_t point = 0; point < points; ++point) {
        const Extents here = whole.extents(point);
        bool outside = false;
        Indices indices{};
        for (std::size_t d = 0; d < dimensions; ++d) {
            const std::vector<double>& axis = grid.axes[d];
            const double nearest = std::clamp(here[d], axis.front(), axis.back());
            outside = outside || nearest != here[d];
            indices[d] = static_cast<std::size_t>(std::lower_bound(axis.begin(), axis.end(), nearest) - axis.begin());
        }
        const std::size_t nearest = grid.at(indices);
        seconds[point] = grid.seconds[nearest];
        if (outside) seconds[point] *= modelled(product_of(here)) / modelled_s[nearest];
    }
    // This raises no point of the grid: a smaller point takes no longer than the grid point nearest to it.
    for (std::size_t point = 0; point < points; ++point)
        whole.each_larger(point,
                          [&](std::size_t larger) { seconds[larger] = std::max(seconds[larger], seconds[point]); });
    for (double& value : seconds) value = std::log(value);
    for (std::vector<double>& axis : whole.axes)
        for (double& value : axis) value = std::log(value);
    return whole;
}

double ProductTable::seconds(const MatrixProduct& product) const {
    const Grid& grid = *extended_;
    const Extents extents = extents_of(product);
    Indices low{};
    Extents way{};
    double beyond = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
        const std::vector<double>& axis = grid.axes[d];
        const double x = std::log(extents[d]), inside = std::clamp(x, axis.front(), axis.back());
        beyond += std::max(0.0, x - inside);
        const auto next = std::upper_bound(axis.begin() + 1, axis.end() - 1, inside);
        low[d] = static_cast<std::size_t>(next - axis.begin()) - 1;
        way[d] = (inside - *std::prev(next)) / (*next - *std::prev(next));
    }
    double log_s = 0;
    for (std::size_t corner = 0; corner < 1U << dimensions; ++corner) {
        Indices indices = low;
        double weight = 1;
        for (std::size_t d = 0; d < dimensions; ++d) {
            const bool upper = corner >> d & 1U;
            weight *= upper ? way[d] : 1 - way[d];
            indices[d] += upper;
        }
        if (weight > 0) log_s += weight * grid.seconds[grid.at(indices)];
    }
    return std::exp(log_s + beyond);
}

}  // namespace syncline
