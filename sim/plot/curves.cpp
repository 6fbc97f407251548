#include "sim/plot/curves.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/plot/curve_names.hpp"
#include "sim/plot/plot_axis.hpp"

namespace syncline::batch {

namespace {

constexpr std::size_t distinguishable = 12;  // curves

std::string counted(std::size_t count, const std::string& what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// A point of the table.
struct Point {
    Value x;
    std::vector<Value> series;
    double y = 0;
    std::string study;
    std::vector<std::string> others;  ///< values by `Points::axes`
};

struct Points {
    std::vector<std::string> axes;
    std::vector<Point> points;
    bool x_texts = false;            ///< x is a column of texts
    std::vector<bool> series_texts;  ///< so is a series
    std::string y_unit;
};

/// Returns the columns whose values tell curves apart: the facet, if there is one, and the series.
std::vector<std::string> keys_of(const PlotOptions& options) {
    std::vector<std::string> keys = options.series;
    if (!options.facet.empty()) keys.insert(keys.begin(), options.facet);
    return keys;
}

/// Returns the name of a panel: "ranks = 8".
std::string panel_name(const Table& table, const std::string& facet, const Value& value) {
    return fmt::format("{} = {}", spoken(table, facet).name, curve_name(table, {facet}, {value}));
}

/// Returns the points that can be drawn; `notes` lists the others.
Points read_points(Table& table, const PlotOptions& options, std::vector<std::string>& notes) {
    Points read;
    read.axes = table.settings();
    read.x_texts = table.holds_texts(options.x);
    const std::vector<std::string> keys = keys_of(options);
    for (const std::string& one : keys) read.series_texts.push_back(table.holds_texts(one));
    read.axes.push_back("repeat");
    read.axes.push_back("study");
    std::vector<std::string> columns{options.x, options.y, "status", "study"};
    const std::size_t series = columns.size();
    columns.insert(columns.end(), keys.begin(), keys.end());
    const std::size_t fixed = columns.size();
    columns.insert(columns.end(), read.axes.begin(), read.axes.end());
    const Rows rows = table.select({.where = options.where, .sort = {}, .group = {}, .columns = columns});

    std::size_t failed = 0, pending = 0, without = 0;
    for (const std::vector<Value>& row : rows.rows) {
        const std::string status = text_of(row[2]);
        const auto y = table.holds_texts(options.y) ? std::nullopt : number_of(row[1]);
        const auto x = read.x_texts ? std::nullopt : number_of(row[0]);
        const bool drawable = y && std::isfinite(*y) && !std::holds_alternative<std::monostate>(row[0]) &&
                              !(options.log_y && *y <= 0) && !(options.log_x && x && *x <= 0);
        if (status == "failed")
            ++failed;
        else if (status != "done")
            ++pending;
        else if (!drawable)
            ++without;
        if (status != "done" || !drawable) continue;
        if (const auto* written = std::get_if<std::string>(&row[1])) read.y_unit = base_unit(*written);
        const auto at = [&](std::size_t column) { return row.begin() + static_cast<std::ptrdiff_t>(column); };
        Point point{row[0], {at(series), at(fixed)}, *y, text_of(row[3]), {}};
        for (std::size_t i = fixed; i < row.size(); ++i) point.others.push_back(text_of(row[i]));
        read.points.push_back(std::move(point));
    }
    if (failed > 0) notes.push_back(counted(failed, "failed point") + " left out");
    if (pending > 0) notes.push_back(counted(pending, "point") + " without a result yet left out");
    if (without > 0)
        notes.push_back(fmt::format("{} left out: no {}number for '{}' or '{}'", counted(without, "point"),
                                    options.log_x || options.log_y ? "positive " : "", options.x, options.y));
    if (read.points.empty())
        throw NothingToDraw(rows.rows.empty() ? "no point satisfies the conditions"
                                              : fmt::format("{}", fmt::join(notes, ", ")));
    return read;
}

using Combination = std::vector<std::size_t>;

/// The combinations of values of the series: the positions of a point's values, by series.
class Combinations {
public:
    explicit Combinations(const Points& points) {
        for (std::size_t i = 0; i < points.series_texts.size(); ++i) {
            std::vector<Value> values;
            for (const Point& point : points.points) values.push_back(point.series[i]);
            positions_.emplace_back(values, points.series_texts[i]);
        }
    }
    Combination of(const Point& point) const {
        Combination result;
        for (std::size_t i = 0; i < positions_.size(); ++i) result.push_back(positions_[i].of(point.series[i]));
        return result;
    }

private:
    std::vector<Positions> positions_;
};

/// Returns, for each other axis, the maximum number of its values in one knot.
std::vector<std::size_t> values_in_a_knot(const Points& points, const Positions& xs, const Combinations& combinations) {
    std::vector<std::size_t> most(points.axes.size());
    std::map<std::pair<Combination, std::size_t>, std::vector<std::set<std::string>>> values;
    for (const Point& point : points.points) {
        auto& of = values[{combinations.of(point), xs.of(point.x)}];
        of.resize(most.size());
        for (std::size_t i = 0; i < most.size(); ++i) {
            of[i].insert(point.others[i]);
            most[i] = std::max(most[i], of[i].size());
        }
    }
    return most;
}

std::string averaged_over(const Points& points, const Positions& xs, const Combinations& combinations) {
    const std::vector<std::size_t> most = values_in_a_knot(points, xs, combinations);
    std::vector<std::string> over;
    for (std::size_t i = 0; i < most.size(); ++i)
        if (most[i] > 1) over.push_back(fmt::format("{} values of '{}'", most[i], points.axes[i]));
    if (over.empty()) return "";
    return fmt::format("{}, with bars from minimum to maximum", fmt::join(over, " and "));
}

Knot knot(std::size_t x, const std::vector<double>& ys) {
    double sum = 0;
    for (const double y : ys) sum += y;
    const auto [least, most] = std::minmax_element(ys.begin(), ys.end());
    // Rounding must not move the mean of equal numbers away from them.
    return {x, std::clamp(sum / static_cast<double>(ys.size()), *least, *most), *least, *most};
}

}  // namespace

Positions::Positions(const std::vector<Value>& values, bool texts) {
    texts_ = texts || !std::all_of(values.begin(), values.end(),
                                   [](const Value& value) { return number_of(value).has_value(); });
    std::set<std::string> seen;
    std::map<double, std::string> numbers;
    for (const Value& value : values) {
        const std::string text = text_of(value);
        if (!texts_)
            numbers.emplace(*number_of(value), text);
        else if (seen.insert(text).second)
            marks_.push_back({static_cast<double>(marks_.size()), text});
    }
    for (const auto& [number, text] : numbers) marks_.push_back({number, text});
}

std::size_t Positions::of(const Value& value) const {
    const auto found = std::find_if(marks_.begin(), marks_.end(), [&](const Position& mark) {
        return texts_ ? mark.text == text_of(value) : mark.at == *number_of(value);
    });
    return static_cast<std::size_t>(found - marks_.begin());
}

bool Curves::averaged() const {
    for (const Curve& curve : curves)
        for (const Knot& each : curve.knots)
            if (each.least < each.most) return true;
    return false;
}

std::size_t Curves::most_in_a_panel() const {
    std::size_t most = 0;
    for (std::size_t panel = 0; panel < panels.size(); ++panel)
        most = std::max(
            most, static_cast<std::size_t>(std::count_if(
                      curves.begin(), curves.end(), [panel](const Curve& curve) { return curve.panel == panel; })));
    return most;
}

Curves read_curves(Table& table, const PlotOptions& options, std::vector<std::string>& notes) {
    const Points read = read_points(table, options, notes);
    std::vector<Value> x_values;
    for (const Point& point : read.points) x_values.push_back(point.x);
    const Positions xs(x_values, read.x_texts);
    if (xs.texts() && options.log_x)
        throw SqlError(fmt::format("'{}' has texts, which cannot be on a logarithmic axis", options.x));

    const Combinations combinations(read);
    std::map<Combination, std::map<std::size_t, std::vector<double>>> at;
    std::map<Combination, std::vector<Value>> first;
    for (const Point& point : read.points) {
        const Combination combination = combinations.of(point);
        at[combination][xs.of(point.x)].push_back(point.y);
        first.try_emplace(combination, point.series);
    }
    Curves result;
    result.categories = xs.texts();
    result.xs = xs.all();
    result.study = read.points.front().study;
    result.averaged_over = averaged_over(read, xs, combinations);
    result.y_unit = read.y_unit;
    result.points = read.points.size();
    if (!result.averaged_over.empty())
        notes.push_back(fmt::format("each point is the mean over {}; choose one with --where", result.averaged_over));
    const std::ptrdiff_t panels = options.facet.empty() ? 0 : 1;  // places of the facet in a combination
    if (panels == 0) result.panels.push_back("");
    std::map<std::size_t, std::size_t> panel_of;
    std::map<Combination, std::size_t> dashes, alone;
    for (const auto& [combination, knots] : at) {
        const std::vector<Value>& values = first.at(combination);
        Curve curve;
        curve.name = curve_name(table, options.series, {values.begin() + panels, values.end()});
        if (panels > 0) {
            const auto [known, added] = panel_of.try_emplace(combination.front(), result.panels.size());
            if (added) result.panels.push_back(panel_name(table, options.facet, values.front()));
            curve.panel = known->second;
        }
        const Combination series(combination.begin() + panels, combination.end());
        if (series.size() > 1) {
            curve.colour = series.front();
            curve.dash = dashes.try_emplace(Combination(series.begin() + 1, series.end()), dashes.size()).first->second;
        } else {
            curve.colour = curve.dash = alone.try_emplace(series, alone.size()).first->second;
        }
        for (const auto& [x, ys] : knots) curve.knots.push_back(knot(x, ys));
        result.curves.push_back(std::move(curve));
    }
    for (std::size_t panel = 0; panel < result.panels.size(); ++panel) {
        std::vector<Curve> beside;
        for (const Curve& curve : result.curves)
            if (curve.panel == panel) beside.push_back(curve);
        const std::string alike = coinciding(beside), name = result.panels[panel];
        if (!alike.empty())
            notes.push_back(
                fmt::format("{}lines that coincide within 0.5 %: {}", name.empty() ? "" : name + ": ", alike));
    }
    for (const Point& point : read.points)
        if (point.study != result.study) result.study.clear();
    const std::size_t most = result.most_in_a_panel();
    if (most > distinguishable)
        notes.push_back(fmt::format("{} curves are hard to distinguish; choose fewer with --where", most));
    return result;
}

}  // namespace syncline::batch
