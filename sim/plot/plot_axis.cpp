#include "sim/plot/plot_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "sim/base/units.hpp"
#include "sim/plot/curve_names.hpp"

namespace syncline::batch {

namespace {

/// Returns whether a value is written with its unit.
bool with_unit(const Position& mark) {
    return !base_unit(mark.text).empty();
}

/// Returns the factor and the prefix with which `most`, in `unit`, has few digits.
std::pair<double, std::string> prefixed(double most, const std::string& unit) {
    static const std::vector<std::pair<double, std::string>> small{{1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}},
        large{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}},
        words{{1e9, "billion "}, {1e6, "million "}, {1e5, "thousand "}, {1, ""}};
    const bool si = unit == "B" || unit == "B/s" || unit == "flops";
    for (const auto& [factor, prefix] : unit == "s" ? small : si ? large : words)
        if (most >= factor) {
            std::string text = prefix + unit;
            if (text.ends_with(' ')) text.pop_back();
            return {prefix == "thousand " ? 1e3 : factor, text};
        }
    return {1, unit};
}

std::string labelled(const std::string& name, const std::string& unit) {
    return unit.empty() ? name : fmt::format("{} ({})", name, unit);
}

bool power_of_two(double value) {
    int exponent = 0;
    return std::frexp(value, &exponent) == 0.5;
}

/// Returns 1, 2, 5, 10, 20, … or, over many decades, 1, 10, 100, …; the first value is at or below `least`, the last
/// one at or above `most`.
std::vector<double> decades(double least, double most) {
    const std::vector<double> steps = most / least > 1e3 ? std::vector<double>{1} : std::vector<double>{1, 2, 5};
    std::vector<double> all;
    for (int decade = static_cast<int>(std::floor(std::log10(least))); all.empty() || all.back() < most; ++decade)
        for (const double step : steps) {
            const double value = step * std::pow(10, decade);
            if (!all.empty() && all.back() >= most) break;
            if (value <= least) all.clear();
            all.push_back(value);
        }
    return all;
}

/// Drops ticks that are too close to the previous one.
std::vector<Tick> spread(const std::vector<Tick>& ticks, const PlotAxis& axis) {
    std::size_t longest = 0;
    for (const Tick& tick : ticks) longest = std::max(longest, tick.text.size());
    const auto place = [&](double at) { return axis.logarithmic ? std::log(at) : at; };
    const double gap = (place(axis.high) - place(axis.low)) * std::max(0.04, 0.014 * static_cast<double>(longest));
    std::vector<Tick> kept;
    for (const Tick& tick : ticks)
        if (kept.empty() || place(tick.at) - place(kept.back().at) >= gap) kept.push_back(tick);
    return kept;
}

void set_range(PlotAxis& axis, double least, double most) {
    if (axis.logarithmic) {
        axis.low = least / 1.1;
        axis.high = most * 1.1;
    } else {
        const double margin = least < most ? 0.03 * (most - least) : std::max(1.0, std::abs(most)) / 2;
        axis.low = least - margin;
        axis.high = most + margin;
    }
}

std::optional<Dimension> dimension_of(const std::string& unit) {
    if (unit == "s") return Dimension::seconds;
    if (unit == "B") return Dimension::bytes;
    if (unit == "B/s") return Dimension::bandwidth;
    if (unit == "flops") return Dimension::flops;
    return std::nullopt;
}

/// Sets a logarithmic axis of values in `unit`. Over many decades no prefix suits all, so that ticks have their own.
void set_decades(PlotAxis& axis, double least, double most, const std::string& unit) {
    const auto dimension = dimension_of(unit);
    const bool own_units = dimension && most / least > 1e3;
    std::string unit_text;
    std::tie(axis.unit, unit_text) = own_units ? std::pair{1.0, std::string()} : prefixed(most, unit);
    for (const double value : decades(least / axis.unit, most / axis.unit))
        axis.ticks.push_back({value, own_units ? format_quantity(value, *dimension) : fmt::format("{:g}", value)});
    axis.low = axis.ticks.front().at;
    axis.high = std::max(axis.ticks.back().at, 2 * axis.low);
    axis.label = labelled(axis.label, unit_text);
}

}  // namespace

Spoken Spoken::called(const std::string& other) const {
    return {other.empty() ? name : other, unit};
}

Spoken spoken(const Table& table, const std::string& expression) {
    const std::string quoted = table.quoted(expression);
    const bool column = quoted.size() > 2 && quoted.front() == '"' && quoted.find('"', 1) == quoted.size() - 1;
    if (!column) return {expression, ""};
    const Unit unit = table.unit(expression);
    std::string name = without_unit(expression, unit);
    std::replace_if(
        name.begin(), name.end(), [](char letter) { return letter == '_' || letter == '.'; }, ' ');
    return {name, symbol(unit)};
}

PlotAxis x_axis(const Spoken& what, const Curves& curves, bool logarithmic) {
    PlotAxis axis;
    axis.label = what.name;
    axis.logarithmic = logarithmic;
    const std::vector<Position>& xs = curves.xs;
    if (curves.categories) {
        for (const Position& x : xs) axis.ticks.push_back({x.at, x.text});
        axis.low = -0.5;
        axis.high = static_cast<double>(xs.size()) - 0.5;
        return axis;
    }
    const bool written = std::all_of(xs.begin(), xs.end(), with_unit);
    const bool powers = std::all_of(xs.begin(), xs.end(), [](const Position& x) { return power_of_two(x.at); });
    const bool whole = std::all_of(xs.begin(), xs.end(), [](const Position& x) { return x.at == std::round(x.at); });
    const std::string unit = written ? base_unit(xs.front().text) : what.unit;
    const double most = std::max(std::abs(xs.front().at), std::abs(xs.back().at));
    std::string unit_text;
    std::tie(axis.unit, unit_text) = prefixed(most, unit);
    set_range(axis, xs.front().at / axis.unit, xs.back().at / axis.unit);

    const bool few = xs.size() <= 12 && (written || whole);
    if (logarithmic ? powers || (few && written) : few) {
        const bool sizes = !written && unit == "B" && powers;
        for (const Position& x : xs) {
            const double at = x.at / axis.unit;
            axis.ticks.push_back({at, written ? x.text : sizes ? binary_size(x.at) : fmt::format("{:g}", at)});
        }
        axis.ticks = spread(axis.ticks, axis);
        if (written || sizes) unit_text.clear();
    } else if (logarithmic) {
        set_decades(axis, xs.front().at, xs.back().at, unit);
        return axis;
    }
    axis.label = labelled(axis.label, unit_text);
    return axis;
}

PlotAxis y_axis(const Spoken& what, const Curves& curves, bool logarithmic) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const Curve& curve : curves.curves)
        for (const Knot& knot : curve.knots) {
            least = std::min(least, knot.least);
            most = std::max(most, knot.most);
        }
    PlotAxis axis;
    axis.label = what.name;
    axis.logarithmic = logarithmic;
    const std::string unit = curves.y_unit.empty() ? what.unit : curves.y_unit;
    if (logarithmic) {
        set_decades(axis, least, most, unit);
        return axis;
    }
    std::string unit_text;
    std::tie(axis.unit, unit_text) = prefixed(std::max(std::abs(least), std::abs(most)), unit);
    axis.label = labelled(axis.label, unit_text);
    least /= axis.unit;
    most /= axis.unit;
    // Lengths of bars are compared from zero, but curves that hardly differ would coincide on an axis from zero.
    const bool from_zero = least >= 0 && (curves.categories || least <= 0.8 * most);
    set_range(axis, from_zero ? 0 : least, most);
    if (from_zero) axis.low = 0;
    return axis;
}

}  // namespace syncline::batch
