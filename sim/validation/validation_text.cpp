#include "sim/validation/validation_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/validation/accuracy.hpp"
#include "sim/validation/ranking.hpp"
#include "sim/validation/tables.hpp"

// The text output of `syncline validate`.

namespace syncline::validation {

namespace {

std::string line_of(const std::string& name, const AccuracyFigures& figures) {
    constexpr double all = 100;
    if (figures.rows == 0) return fmt::format("{}: no row is predicted\n", name);
    const std::string noise = figures.with_noise == 0 ? ""
                                                      : fmt::format(", below the source's spread: {} of {}",
                                                                    figures.within_noise, figures.with_noise);
    return fmt::format(
        "{}: {} predicted, accuracy: median {:.3f}, worst {:.3f}, above 0.85: {:.1f} %\n"
        "  error: median {:.1f} %, mean {:.1f} %, bias {:+.1f} %, worst row '{}'{}\n",
        name, figures.rows, *figures.median_accuracy, *figures.worst_accuracy, all * *figures.share_above_085,
        all * *figures.median_error, all * *figures.mean_error, all * *figures.bias, figures.worst_row, noise);
}

/// Returns how accurate the predictions are without calibration; nothing if that is not known.
std::string uncalibrated_line(const std::vector<Validation>& points) {
    constexpr double all = 100;
    const AccuracyFigures own = uncalibrated_figures(points);
    if (own.rows == 0) return "";
    return fmt::format("  uncalibrated: median {:.3f}, worst {:.3f}, above 0.85: {:.1f} %, bias {:+.1f} %\n",
                       *own.median_accuracy, *own.worst_accuracy, all * *own.share_above_085, all * *own.bias);
}

/// Returns what is predicted of the order of layouts, and of scaling.
std::string order_of(const Validation& one) {
    constexpr double all = 100;
    std::string text;
    for (const Sweep& sweep : sweeps(one))
        text += fmt::format(
            "  layouts of {}: {} rows, rank correlation {:.3f}{}, {} of {} pairs{} in order, "
            "lost with the predicted best {:.1f} %\n",
            sweep.name, sweep.rows, sweep.rank_correlation,
            sweep.repeated_correlation ? fmt::format(" (a second measurement: {:.3f})", *sweep.repeated_correlation)
                                       : "",
            sweep.pairs_in_order, sweep.pairs, sweep.repeated_correlation ? " beyond the spread" : "",
            all * sweep.regret);
    for (const Scaling& scaling : scalings(one))
        text += fmt::format("  scaling of {}: {} rows, ratio of the largest to the smallest {:+.1f} %\n", scaling.name,
                            scaling.rows, all * scaling.ratio_error);
    return text;
}

bool any_doubt(const Validation& one) {
    for (std::size_t row = 0; row < one.measurements.rows.size(); ++row)
        if (one.doubtful(row)) return true;
    return false;
}

}  // namespace

std::string head_of(const Validation& one) {
    const config::Measurements& all = one.measurements;
    const std::string spread = all.noise > 0 ? fmt::format(" (spread {:g} %)", 100 * all.noise) : "";
    return fmt::format("{}: {}{}\n\n", one.name, all.source, spread);
}

std::string sentence(const Sample& sample) {
    return fmt::format("sample: {} of {} rows, seed {}\n", sample.rows, sample.of, sample.seed);
}

std::string to_table(const Points& points, const text::TableLayout& layout) {
    std::string text;
    for (const Validation& one : points.points) {
        text += head_of(one) + rows_table(one, layout) + "\n";
        if (const std::string causes = causes_table(one, layout); !causes.empty()) text += causes + "\n";
        if (!one.measurements.parameters.empty()) text += parameters_table(one, layout) + "\n";
        if (!one.leave_one_out.empty()) text += left_out_table(one, layout) + "\n";
        if (!one.assumptions.empty()) text += assumptions_table(one, layout) + "\n";
        text += line_of(one.name, figures({one}, true)) + uncalibrated_line({one}) + order_of(one) + "\n";
    }
    if (!points.points.empty() && !points.points.front().mechanisms.empty())
        text += mechanisms_table(points.points, layout) + "\n";
    if (points.sample) text += sentence(*points.sample);
    for (const std::string& failure : points.failed) text += fmt::format("failed: {}\n", failure);
    text += line_of("all", figures(points.points, true)) + uncalibrated_line(points.points);
    if (std::any_of(points.points.begin(), points.points.end(), any_doubt))
        text += line_of("reliable only", figures(points.points, false));
    return text;
}

}  // namespace syncline::validation
