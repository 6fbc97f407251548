#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/output/cells.hpp"
#include "sim/validation/ablation.hpp"
#include "sim/validation/tables.hpp"

// The tables of assumptions and of mechanisms.

namespace syncline::validation {

namespace {

std::string median_error(const AccuracyFigures& figures) {
    return figures.rows == 0 ? "-" : fmt::format("{:.1f} %", 100 * *figures.median_error);
}

/// Returns "7.1 % (+2.3)": the median error without a mechanism, and its change.
std::string cell(const UnderAlternate& under) {
    if (under.figures.rows == 0 || !under.applies) return "-";
    return fmt::format("{} ({:+.1f})", median_error(under.figures), 100 * *under.change);
}

std::string note(const std::string& name, const UnderAlternate& under) {
    if (under.reason.empty()) return "";
    return fmt::format("'{}' is refused for {} predicted rows: {}\n", name, under.refused, under.reason);
}

}  // namespace

std::string assumptions_table(const Validation& one, const text::TableLayout& layout) {
    std::vector<text::Row> table{{"assumption", "rows", "median accuracy", "worst", "bias", "refused", "what it is"}};
    const auto add = [&](const std::string& name, const AccuracyFigures& figures, std::size_t refused,
                         const std::string& why) {
        table.push_back({name, fmt::format("{}", figures.rows), accuracy_text(figures.median_accuracy),
                         accuracy_text(figures.worst_accuracy), figures.bias ? signed_percent(*figures.bias) : "-",
                         fmt::format("{}", refused), why});
    };
    std::string notes;
    add("as written", figures({one}, true), 0, "");
    for (std::size_t i = 0; i < one.assumptions.size(); ++i) {
        const UnderAlternate under = assuming(one, i);
        const config::Alternative& assumption = one.assumptions[i].of;
        add(assumption.name, under.figures, under.refused, assumption.why);
        notes += note(assumption.name, under);
    }
    return text::aligned(table, 1, layout) + notes;
}

std::string mechanisms_table(const std::vector<Validation>& points, const text::TableLayout& layout) {
    std::vector<text::Row> table{{"switched off"}, {"nothing"}};
    for (const Validation& point : points) {
        table[0].push_back(point.name);
        table[1].push_back(median_error(figures({point}, true)));
    }
    table[0].emplace_back("all");
    table[1].push_back(median_error(figures(points, true)));
    std::string notes;
    for (std::size_t i = 0; i < points.front().mechanisms.size(); ++i) {
        const config::Alternative& mechanism = points.front().mechanisms[i].of;
        text::Row row{mechanism.name};
        for (const Validation& point : points) {
            const UnderAlternate under = without({point}, i);
            row.push_back(cell(under));
            notes += note(mechanism.name, under).insert(0, under.reason.empty() ? "" : point.name + ": ");
        }
        row.push_back(cell(without(points, i)));
        table.push_back(std::move(row));
    }
    return "median error with a mechanism switched off, and its change in percentage points\n\n" +
           text::aligned(table, 0, layout) + notes;
}

}  // namespace syncline::validation
