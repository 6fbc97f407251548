#include "sim/validation/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>

#include "sim/taskgraph/pace.hpp"

namespace syncline::validation {

namespace {

constexpr std::size_t least_rows = 4;  // of three, chance orders one in six

/// Returns the rank of each value from 1; equal values have the mean of their ranks.
std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
        while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
        const double mean = static_cast<double>(first + 1 + last) / 2;
        for (std::size_t i = first; i < last; ++i) ranks[order[i]] = mean;
    }
    return ranks;
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Returns the mean rank correlation of these values with themselves, measured once more.
double correlation_with_repetition(const std::vector<double>& measured, double spread) {
    constexpr int repetitions = 1000;
    std::mt19937_64 bits(1);
    double sum = 0;
    for (int i = 0; i < repetitions; ++i) {
        std::vector<double> again = measured;
        for (double& value : again) value *= lognormal_factor(spread, bits());
        sum += rank_correlation(measured, again);
    }
    return sum / repetitions;
}

/// Counts the pairs that the measurement tells apart.
void count_pairs(const std::vector<double>& measured, const std::vector<double>& predicted, double spread,
                 Sweep& sweep) {
    for (std::size_t a = 0; a < measured.size(); ++a)
        for (std::size_t b = 0; b < measured.size(); ++b) {
            const double least = spread * std::min(std::abs(measured[a]), std::abs(measured[b]));
            if (measured[b] - measured[a] <= least) continue;
            ++sweep.pairs;
            if (predicted[a] < predicted[b]) ++sweep.pairs_in_order;
        }
}

Sweep sweep_of(const Validation& one, const std::string& name, const std::vector<std::size_t>& rows) {
    std::vector<double> measured, predicted;
    const bool less_is_better =
        one.measurements.series[one.measurements.rows[rows.front()].series].field.ends_with("_s") &&
        !one.measurements.series[one.measurements.rows[rows.front()].series].field.ends_with("per_s");
    for (const std::size_t row : rows) {
        const double sign = less_is_better ? 1 : -1;  // the best one is the least
        measured.push_back(sign * one.measurements.rows[row].value);
        predicted.push_back(sign * one.calibration.predicted[row]);
    }
    const auto chosen = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
    const double best = std::abs(*std::min_element(measured.begin(), measured.end()));
    const double taken = std::abs(measured[static_cast<std::size_t>(chosen)]);
    const double spread = one.measurements.noise;
    Sweep sweep{name, rows.size(), rank_correlation(measured, predicted),
                (less_is_better ? taken / best : best / taken) - 1};
    if (spread > 0) sweep.repeated_correlation = correlation_with_repetition(measured, spread);
    count_pairs(measured, predicted, spread, sweep);
    return sweep;
}

}  // namespace

double rank_correlation(const std::vector<double>& one, const std::vector<double>& other) {
    const std::vector<double> a = ranks(one), b = ranks(other);
    const double mean_a = mean(a), mean_b = mean(b);
    double both = 0, of_a = 0, of_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        both += (a[i] - mean_a) * (b[i] - mean_b);
        of_a += (a[i] - mean_a) * (a[i] - mean_a);
        of_b += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return of_a > 0 && of_b > 0 ? both / std::sqrt(of_a * of_b) : 0;
}

std::vector<Sweep> sweeps(const Validation& one) {
    std::map<std::string, std::vector<std::size_t>> rows;
    for (std::size_t row = 0; row < one.measurements.rows.size(); ++row)
        if (!one.measurements.rows[row].sweep.empty() && !one.failed(row))
            rows[one.measurements.rows[row].sweep].push_back(row);
    std::vector<Sweep> all;
    for (const auto& [name, members] : rows)
        if (members.size() >= least_rows) all.push_back(sweep_of(one, name, members));
    return all;
}

std::vector<Scaling> scalings(const Validation& one) {
    std::vector<Scaling> all;
    const auto& measured = one.measurements.rows;
    for (std::size_t series = 0; series < one.measurements.series.size(); ++series) {
        if (one.measurements.series[series].over != std::vector<std::string>{"training.ranks"}) continue;
        std::vector<std::size_t> rows;
        for (std::size_t row = 0; row < measured.size(); ++row)
            if (measured[row].series == series && !one.failed(row)) rows.push_back(row);
        if (rows.size() < 2) continue;
        const auto ranks = [&](std::size_t row) {
            return std::strtod(measured[row].settings.front().c_str(), nullptr);
        };
        const auto [least, most] = std::minmax_element(
            rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return ranks(a) < ranks(b); });
        const auto& predicted = one.calibration.predicted;
        const double ratio = (predicted[*most] / predicted[*least]) / (measured[*most].value / measured[*least].value);
        all.push_back({one.measurements.series[series].name, rows.size(), ratio - 1});
    }
    return all;
}

}  // namespace syncline::validation
