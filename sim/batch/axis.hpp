#pragma once

#include <string>
#include <vector>

#include "sim/batch/curves.hpp"

/// How an axis of a plot is labelled: its name, its unit, from where to where it goes, where its ticks are.
///
/// Units come from columns' names (`iteration_time_s`, `bus_bandwidth_Bps`, `memory.total_bytes`) or from the values'
/// own (`25 Gbps`), with the prefix that suits the largest value.
namespace syncline::batch {

struct Tick {
    double at = 0;  ///< in the axis's unit, as everything here
    std::string text;
};

struct PlotAxis {
    std::string label;
    double unit = 1;  ///< what is drawn is a value divided by this
    double low = 0, high = 1;
    bool logarithmic = false;
    std::vector<Tick> ticks;  ///< empty: gnuplot finds some
};

/// How people say what `expression` is, without its unit: `iteration time`; and that unit.
struct Spoken {
    std::string name, unit;
};
Spoken spoken(const Table& table, const std::string& expression);

PlotAxis x_axis(const Spoken& what, const Curves& curves, bool logarithmic);
PlotAxis y_axis(const Spoken& what, const Curves& curves, bool logarithmic);

}  // namespace syncline::batch
