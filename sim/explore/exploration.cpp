#include <fmt/format.h>

#include <algorithm>

#include "sim/base/percent.hpp"
#include "sim/base/version.hpp"
#include "sim/explore/exploration.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/field_cells.hpp"
#include "sim/output/json_text.hpp"
#include "sim/query/row_text.hpp"

namespace syncline::batch {

using namespace text;

namespace {

/// Returns the unit of the column `name`.
Unit unit_in(const Rows& rows, const std::string& name) {
    const auto found = std::find(rows.columns.begin(), rows.columns.end(), name);
    return rows.unit(static_cast<std::size_t>(found - rows.columns.begin()));
}

/// Puts the place of each row, from 1, before it.
Rows with_ranks(Rows rows) {
    rows.columns.insert(rows.columns.begin(), "rank");
    rows.units.insert(rows.units.begin(), Unit::number);
    for (std::size_t i = 0; i < rows.rows.size(); ++i)
        rows.rows[i].insert(rows.rows[i].begin(), static_cast<std::int64_t>(i + 1));
    return rows;
}

/// Returns "80 ranked, 4 failed"; counts of zero are left out.
std::string in_words(const PlanCounts& counts) {
    std::vector<std::string> parts{fmt::format("{} ranked", counts.ranked)};
    const auto add = [&](std::int64_t number, const char* what) {
        if (number > 0) parts.push_back(fmt::format("{} {}", number, what));
    };
    add(counts.outside_constraints, "outside the constraints");
    add(counts.failed, "failed");
    add(counts.without_value, "without a value");
    add(counts.unfit, "that do not fit");
    add(counts.left_out, "dropped after a cheaper setting");
    add(counts.skipped, "skipped, never simulated");
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// Returns the most frequent reasons, one per line.
std::string not_ranked_lines(const std::vector<NotRanked>& all) {
    constexpr std::size_t most = 5;
    std::int64_t plans = 0, others = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        plans += all[i].plans;
        if (i >= most) others += all[i].plans;
    }
    if (plans == 0) return "";
    std::string text = fmt::format("{} points without a result:\n", plans);
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
        text += fmt::format("  {}{}: {}, for example ({})\n", all[i].plans,
                            all[i].varies ? ", some with different numbers" : "", all[i].reason, all[i].example);
    if (others > 0)
        text += fmt::format("  {}: for {} more reasons, listed by --format json\n", others, all.size() - most);
    return text;
}

std::string summary(const Exploration& e) {
    std::string text =
        fmt::format("{}: {} {}", e.study, e.objective.most ? "maximise" : "minimise", e.objective.expression.text);
    for (std::size_t i = 0; i < e.constraints.size(); ++i)
        text += fmt::format("{} {}", i == 0 ? " where" : " and", e.constraints[i]);
    text += fmt::format("\n\n{} points{}: {}\n", e.plans,
                        e.repeats > 1 ? fmt::format(", {} repetitions each", e.repeats) : "", in_words(e.counts));
    text += e.stages.empty() ? fmt::format("all points that fit are evaluated: {} simulations, earlier ones included\n",
                                           e.simulations)
                             : fmt::format("search: {} simulations, earlier ones included, of a budget of {}\n",
                                           e.simulations, e.budget);
    text += not_ranked_lines(e.not_ranked);
    for (const std::string& note : e.notes) text += fmt::format("note: {}\n", note);
    return text;
}

std::string axes_table(const Exploration& e, Unit objective, const TableLayout& layout) {
    std::vector<Row> cells{{"axis", "share of variance", "best value by mean", "mean"}};
    for (const AxisImportance& axis : e.axes)
        cells.push_back(
            {axis.axis,
             percent(axis.share) +
                 (axis.confounded_with.empty() ? "" : fmt::format(" with {}", fmt::join(axis.confounded_with, ", "))),
             axis.best_value, cell_of(axis.best_mean, objective)});
    return aligned(cells, 0, layout);
}

std::string stages_table(const Exploration& e, const TableLayout& layout) {
    std::vector<Row> cells{{"stage", "points", "kept", "simulations"}};
    for (const Stage& stage : e.stages)
        cells.push_back({stage.setting, field(stage.plans), field(stage.kept), field(stage.simulations)});
    return aligned(cells, 0, layout);
}

}  // namespace

std::string to_table(const Exploration& e, const TableLayout& layout) {
    std::string text = summary(e);
    if (!e.ranked.rows.empty()) {
        text.append("\n").append(to_table(with_ranks(e.ranked), layout));
        text +=
            fmt::format("\nPareto front: no point is both faster ({}) and cheaper ({}) than one of these\n\n",
                        heading_of(e.time, unit_in(e.front, e.time)), heading_of(e.cost, unit_in(e.front, e.cost))) +
            to_table(e.front, layout);
    }
    if (!e.axes.empty()) text.append("\n").append(axes_table(e, unit_in(e.ranked, e.objective_column), layout));
    if (!e.stages.empty()) text.append("\n").append(stages_table(e, layout));
    return text;
}

std::string to_json(const Exploration& e) {
    Json stages = Json::array(), axes = Json::array(), not_ranked = Json::array();
    for (const Stage& stage : e.stages)
        stages.push_back({{"setting", stage.setting},
                          {"plans", stage.plans},
                          {"kept", stage.kept},
                          {"simulations", stage.simulations}});
    for (const AxisImportance& axis : e.axes)
        axes.push_back({{"axis", axis.axis},
                        {"share_of_variance", axis.share},
                        {"best_value", axis.best_value},
                        {"best_mean", axis.best_mean},
                        {"confounded_with", axis.confounded_with}});
    for (const NotRanked& one : e.not_ranked)
        not_ranked.push_back(
            {{"reason", one.reason}, {"varies", one.varies}, {"plans", one.plans}, {"example", one.example}});
    return dumped({{"schema_version", result_schema_version},
                   {"study", e.study},
                   {"objective", e.objective.expression.text},
                   {"direction", e.objective.most ? "most" : "least"},
                   {"constraints", e.constraints},
                   {"plans", e.plans},
                   {"repeats", e.repeats},
                   {"budget", e.budget > 0 ? Json(e.budget) : Json(nullptr)},
                   {"simulations", e.simulations},
                   {"counts",
                    {{"ranked", e.counts.ranked},
                     {"outside_constraints", e.counts.outside_constraints},
                     {"failed", e.counts.failed},
                     {"without_value", e.counts.without_value},
                     {"unfit", e.counts.unfit},
                     {"left_out", e.counts.left_out},
                     {"skipped", e.counts.skipped}}},
                   {"not_ranked", std::move(not_ranked)},
                   {"ranked", list_of(e.ranked)},
                   {"front", {{"time", e.time}, {"cost", e.cost}, {"plans", list_of(e.front)}}},
                   {"axes", std::move(axes)},
                   {"stages", std::move(stages)},
                   {"notes", e.notes}});
}

std::string to_csv(const Exploration& e) {
    return to_csv(with_ranks(e.ranked));
}

}  // namespace syncline::batch
