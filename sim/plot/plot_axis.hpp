#pragma once

#include <string>
#include <vector>

#include "sim/plot/curves.hpp"

/// Axes of plots: their name, unit (of sim/output/result_fields.hpp or of the values, with the prefix of the largest
/// value), range and ticks.
namespace syncline::batch {

struct Tick {
    double at = 0;  ///< in the axis's unit, as all numbers here
    std::string text;
};

struct PlotAxis {
    std::string label;
    double unit = 1;  ///< values are divided by this before they are drawn
    double low = 0, high = 1;
    bool logarithmic = false;
    std::vector<Tick> ticks;  ///< empty: gnuplot chooses them
};

/// The name of `expression` in words, without its unit (`iteration time`), and that unit.
struct Spoken {
    std::string name, unit;

    /// Returns the same with another name, if it is not empty.
    Spoken called(const std::string& other) const;
};
Spoken spoken(const Table& table, const std::string& expression);

PlotAxis x_axis(const Spoken& what, const Curves& curves, bool logarithmic);
PlotAxis y_axis(const Spoken& what, const Curves& curves, bool logarithmic);

}  // namespace syncline::batch
