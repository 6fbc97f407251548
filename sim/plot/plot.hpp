#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "sim/query/table.hpp"

/// Plots of results, drawn by gnuplot: one figure against another, with a line for each value of others.
namespace syncline::batch {

struct PlotOptions {
    std::string x, y;                 ///< expressions over a Table's columns
    std::vector<std::string> series;  ///< expressions; a line for each combination of their values
    std::vector<std::string> where;
    bool log_x = false, log_y = false;
    std::string title, x_label, y_label;  ///< empty: from the table; units follow labels
    std::string facet = {};               ///< expression: a panel for each of its values; empty: one
    double width_px = 960;                ///< 96 to the inch, as in style sheets
    double height_px = 0;                 ///< 0: as the width and the legend need it
};

enum class Picture { svg, png, pdf };

/// No point has the figures to draw; what() gives the reason.
class NothingToDraw : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct PlotScript {
    std::string text;
    std::size_t lines = 0, points = 0;  ///< drawn
};

/// Returns gnuplot's script for the picture, including the data; the same table gives the same bytes. Points of one
/// series at the same x are drawn as their mean, with a bar from minimum to maximum. With several series, the first has
/// the colours, the others dashes and marks. `notes` gets the axes that are averaged over and the points that are left
/// out. Throws SqlError and NothingToDraw.
PlotScript plot_script(Table& table, const PlotOptions& options, Picture picture, std::vector<std::string>& notes);

/// Returns the picture that gnuplot draws from a script. Throws OutputError if gnuplot is not installed or fails.
std::string drawn(const std::string& script);

}  // namespace syncline::batch
