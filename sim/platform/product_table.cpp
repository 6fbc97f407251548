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

std::size_t ProductTable::at(const Indices& indices) const {
    std::size_t point = 0;
    for (std::size_t d = 0; d < dimensions; ++d) point = point * axes_[d].size() + indices[d];
    return point;
}

ProductTable::Extents ProductTable::extents(std::size_t point) const {
    Extents result{};
    for (std::size_t d = dimensions; d-- > 0; point /= axes_[d].size()) result[d] = axes_[d][point % axes_[d].size()];
    return result;
}

std::vector<std::size_t> ProductTable::larger(std::size_t point) const {
    std::vector<std::size_t> result;
    std::size_t step = 1;
    for (std::size_t d = dimensions; d-- > 0; step *= axes_[d].size())
        if (point / step % axes_[d].size() + 1 < axes_[d].size()) result.push_back(point + step);
    return result;
}

ProductTable::ProductTable(const std::vector<MeasuredProduct>& rows, const Modelled& modelled) {
    measure(rows);
    smooth();
    extend(modelled);
}

void ProductTable::measure(const std::vector<MeasuredProduct>& rows) {
    std::size_t points = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
        std::vector<double>& axis = axes_[d];
        for (const MeasuredProduct& row : rows) axis.push_back(extents_of(row.product)[d]);
        std::sort(axis.begin(), axis.end());
        axis.erase(std::unique(axis.begin(), axis.end()), axis.end());
        if (axis.size() < (d < 3 ? 2U : 1U))
            throw std::invalid_argument(fmt::format("there are fewer than two values of {}", extent_names[d]));
        points *= axis.size();
    }
    // Rows of one grid are as many as its points if none is missing and none is there twice.
    if (points > 1 << 20) throw std::invalid_argument("the rows are no grid");
    seconds_.assign(points, 0);
    for (const MeasuredProduct& row : rows) {
        const Extents extents = extents_of(row.product);
        Indices indices{};
        for (std::size_t d = 0; d < dimensions; ++d)
            indices[d] = static_cast<std::size_t>(std::lower_bound(axes_[d].begin(), axes_[d].end(), extents[d]) -
                                                  axes_[d].begin());
        double& measured_s = seconds_[at(indices)];
        if (measured_s > 0)
            throw std::invalid_argument(fmt::format("the product m = {}, n = {}, k = {}, batch {} is listed twice",
                                                    extents[0], extents[1], extents[2], extents[3]));
        measured_s = row.product.flops() / row.flops_per_s;
    }
    for (std::size_t point = 0; point < points; ++point) {
        const Extents missing = extents(point);
        if (seconds_[point] == 0)
            throw std::invalid_argument(fmt::format("the product m = {}, n = {}, k = {}, batch {} is missing",
                                                    missing[0], missing[1], missing[2], missing[3]));
    }
}

void ProductTable::smooth() {
    const std::vector<double> measured = seconds_;
    // From the largest point down, each point's larger neighbours are final.
    for (std::size_t point = seconds_.size(); point-- > 0;) {
        for (const std::size_t other : larger(point)) seconds_[point] = std::min(seconds_[point], seconds_[other]);
        if (seconds_[point] == measured[point]) continue;
        ++smoothed_.points;
        smoothed_.most = std::max(smoothed_.most, measured[point] / seconds_[point]);
    }
}

void ProductTable::extend(const Modelled& modelled) {
    ProductTable grid = *this;
    for (std::size_t d = 0; d < dimensions; ++d)
        axes_[d] = extended(axes_[d], d < 3 ? least_extent : 1, d < 3 ? most_extent : most_batch);
    std::size_t points = 1;
    for (const std::vector<double>& axis : axes_) points *= axis.size();
    seconds_.assign(points, 0);
    for (std::size_t point = 0; point < points; ++point) {
        const Extents here = extents(point);
        Extents nearest = here;
        Indices indices{};
        for (std::size_t d = 0; d < dimensions; ++d) {
            const std::vector<double>& axis = grid.axes_[d];
            nearest[d] = std::clamp(here[d], axis.front(), axis.back());
            indices[d] =
                static_cast<std::size_t>(std::lower_bound(axis.begin(), axis.end(), nearest[d]) - axis.begin());
        }
        seconds_[point] = grid.seconds_[grid.at(indices)];
        if (here != nearest) seconds_[point] *= modelled(product_of(here)) / modelled(product_of(nearest));
    }
    // This raises no point of the grid: a smaller point takes no longer than the grid point nearest to it.
    for (std::size_t point = 0; point < points; ++point)
        for (const std::size_t other : larger(point)) seconds_[other] = std::max(seconds_[other], seconds_[point]);
    for (double& value : seconds_) value = std::log(value);
    for (std::vector<double>& axis : axes_)
        for (double& value : axis) value = std::log(value);
}

double ProductTable::seconds(const MatrixProduct& product) const {
    const Extents extents = extents_of(product);
    Indices low{};
    Extents way{};
    double beyond = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
        const std::vector<double>& axis = axes_[d];
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
        if (weight > 0) log_s += weight * seconds_[at(indices)];
    }
    return std::exp(log_s + beyond);
}

}  // namespace syncline
