#include "sim/platform/grouped_products.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace syncline {

GroupedProducts::GroupedProducts(std::vector<MeasuredGroup> rows, const Modelled& modelled)
    : points_([rows = std::move(rows), modelled] {
          std::array<std::vector<Point>, 3> points;
          for (const MeasuredGroup& row : rows)
              points[static_cast<std::size_t>(row.pass)].push_back(
                  {place(row.products), std::log(row.seconds / modelled(row.pass, row.products))});
          return points;
      }) {}

GroupedProducts::Place GroupedProducts::place(const MatrixProduct& products) {
    return {std::log(products.m), std::log(products.n), std::log(products.k), std::log(products.batch)};
}

double GroupedProducts::ratio(GroupedPass pass, const MatrixProduct& products) const {
    const Place at = place(products);
    double weights = 0, sum = 0;
    for (const Point& point : (*points_)[static_cast<std::size_t>(pass)]) {
        double squares = 0;
        for (std::size_t i = 0; i < at.size(); ++i) squares += (at[i] - point.at[i]) * (at[i] - point.at[i]);
        if (squares == 0) return std::exp(point.log_ratio);
        weights += 1 / squares;
        sum += point.log_ratio / squares;
    }
    return weights > 0 ? std::exp(sum / weights) : 1;
}

}  // namespace syncline
