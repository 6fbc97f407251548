#pragma once

#include <vector>

/// Mean and quantiles of several results of one simulation with different random seeds. The quantile of order p of n
/// values lies at position (n - 1) p of the sorted values, from 0, with linear interpolation: definition 7 of R.
/// Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50(4), 1996. With fewer than
/// 20 values the outer quantiles underestimate the spread.
namespace syncline {

struct Spread {
    std::size_t count = 0;
    double mean = 0, median = 0, p05 = 0, p95 = 0;
};

/// Returns the spread of at least one value.
Spread spread_of(std::vector<double> values);

}  // namespace syncline
