#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/batch/table.hpp"

/// A picture of results: one figure against another, a line for each value of a third. Drawn by gnuplot.
namespace syncline::batch {

struct PlotOptions {
    std::string x, y;  ///< expressions over a Table's columns
    std::optional<std::string> series;
    std::vector<std::string> where;
    bool log_x = false, log_y = false;
    std::string title;
};

enum class Picture { svg, png };

/// No point has what is to be drawn; what() says why.
class NothingToDraw : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// gnuplot's script for the picture, data included; the same table gives the same bytes. Points of one series at the
/// same x are drawn as their mean, with a bar from the least to the most. `notes` gets what the reader should know:
/// what is averaged over, what is left out. Throws SqlError and NothingToDraw.
std::string plot_script(Table& table, const PlotOptions& options, Picture picture, std::vector<std::string>& notes);

/// What gnuplot makes of a script. Throws OutputError if there is no gnuplot, or if it fails.
std::string drawn(const std::string& script);

}  // namespace syncline::batch
