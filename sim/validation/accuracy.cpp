#include "sim/validation/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace syncline::validation {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

AccuracyFigures figures(const std::vector<Validation>& points, bool with_doubtful) {
    return figures(points, [&](const Validation& point, std::size_t row) {
        const bool counts = !point.failed(row) && (with_doubtful || !point.doubtful(row));
        return counts ? std::optional(point.error(row)) : std::nullopt;
    });
}

AccuracyFigures uncalibrated_figures(const std::vector<Validation>& points) {
    const auto fitted = [](const Validation& point) { return !point.measurements.parameters.empty(); };
    const auto known = [&](const Validation& point) { return !fitted(point) || !point.uncalibrated.empty(); };
    if (std::ranges::none_of(points, fitted) || !std::ranges::all_of(points, known)) return {};
    return figures(points, [&](const Validation& point, std::size_t row) -> std::optional<double> {
        if (point.failed(row)) return std::nullopt;
        return fitted(point) ? point.uncalibrated_error(row) : point.error(row);
    });
}

AccuracyFigures figures(const std::vector<Validation>& points, const ErrorOf& error_of) {
    constexpr double good = 0.85;
    std::vector<double> accuracies, errors;
    AccuracyFigures figures;
    double sum = 0, worst = -1;
    for (const Validation& point : points)
        for (std::size_t row = 0; row < point.measurements.rows.size(); ++row) {
            if (point.measurements.rows[row].calibrates) continue;
            const std::optional<double> error = error_of(point, row);
            if (!error) continue;
            const double size = std::abs(*error);
            accuracies.push_back(std::max(0.0, 1 - size));
            errors.push_back(size);
            sum += *error;
            if (point.measurements.noise > 0) ++figures.with_noise;
            if (size < point.measurements.noise) ++figures.within_noise;
            if (size <= worst) continue;
            worst = size;
            figures.worst_row = point.measurements.rows[row].name;
        }
    if (accuracies.empty()) return {};
    const auto above = std::count_if(accuracies.begin(), accuracies.end(), [](double one) { return one > good; });
    const auto rows = static_cast<double>(accuracies.size());
    figures.rows = accuracies.size();
    figures.median_accuracy = median(accuracies);
    figures.worst_accuracy = *std::min_element(accuracies.begin(), accuracies.end());
    figures.share_above_085 = static_cast<double>(above) / rows;
    figures.mean_error = std::accumulate(errors.begin(), errors.end(), 0.0) / rows;
    figures.median_error = median(std::move(errors));
    figures.bias = sum / rows;
    return figures;
}

}  // namespace syncline::validation
