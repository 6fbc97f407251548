#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/query/table.hpp"

/// Plots of results, drawn by gnuplot: one figure against another, with a line for each value of a third.
namespace syncline::batch {

struct PlotOptions {
    std::string x, y;  ///< expressions over a Table's columns
    std::optional<std::string> series;
    std::vector<std::string> where;
    bool log_x = false, log_y = false;
    std::string title;
};

enum class Picture { svg, png };

/// No point has the figures to draw; what() gives the reason.
class NothingToDraw : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Returns gnuplot's script for the picture, including the data; the same table gives the same bytes. Points of one
/// series at the same x are drawn as their mean, with a bar from minimum to maximum. `notes` gets the axes that are
/// averaged over and the points that are left out. Throws SqlError and NothingToDraw.
std::string plot_script(Table& table, const PlotOptions& options, Picture picture, std::vector<std::string>& notes);

/// Returns the picture that gnuplot draws from a script. Throws OutputError if gnuplot is not installed or fails.
std::string drawn(const std::string& script);

}  // namespace syncline::batch
