#include "sim/validation/ablation.hpp"

#include <algorithm>

namespace syncline::validation {

namespace {

template <class Choose>
UnderAlternate under(const std::vector<Validation>& points, const Choose& alternate_of) {
    UnderAlternate result;
    for (const Validation& point : points) {
        const Alternate& alternate = alternate_of(point);
        for (std::size_t row = 0; row < alternate.refused.size(); ++row) {
            const bool refused = !alternate.refused[row].empty();
            if (refused && result.reason.empty()) result.reason = alternate.refused[row];
            if (point.measurements.rows[row].calibrates) continue;
            if (refused) ++result.refused;
            result.applies =
                result.applies || (!refused && *alternate.predicted(row) != point.calibration.predicted[row]);
        }
    }
    result.figures = figures(points, [&](const Validation& point, std::size_t row) -> std::optional<double> {
        const std::optional<double> predicted = alternate_of(point).predicted(row);
        if (!predicted) return {};
        return *predicted / point.measurements.rows[row].value - 1;
    });
    const AccuracyFigures same = figures(points, [&](const Validation& point, std::size_t row) {
        return alternate_of(point).predicted(row) ? std::optional(point.error(row)) : std::nullopt;
    });
    if (result.figures.rows > 0) result.change = *result.figures.median_error - *same.median_error;
    return result;
}

}  // namespace

UnderAlternate without(const std::vector<Validation>& points, std::size_t number) {
    return under(points, [&](const Validation& point) -> const Alternate& { return point.mechanisms[number]; });
}

UnderAlternate assuming(const Validation& one, std::size_t number) {
    return under({one}, [&](const Validation& point) -> const Alternate& { return point.assumptions[number]; });
}

Between between(const Validation& one, std::size_t row) {
    Between all{one.calibration.predicted[row], one.calibration.predicted[row]};
    for (const Alternate& alternate : one.assumptions)
        if (const std::optional<double> predicted = alternate.predicted(row))
            all = {std::min(all.lowest, *predicted), std::max(all.highest, *predicted)};
    return all;
}

}  // namespace syncline::validation
