#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plot/plot.hpp"

/// The content of a plot: a curve for each combination of values of the series, with a knot for each x that has points.
namespace syncline::batch {

/// A value that points share: its position and its text.
struct Position {
    double at = 0;  ///< the number, or a quantity in its base unit; for texts the place in the order, from 0
    std::string text;
};

struct Knot {
    std::size_t x = 0;  ///< index in Curves::xs
    double mean = 0, least = 0, most = 0;
};

struct Curve {
    std::string name;
    std::size_t panel = 0;    ///< index in Curves::panels
    std::size_t colour = 0;   ///< which value of the first series ...
    std::size_t dash = 0;     ///< ... and which combination of the others; of a single series the same
    std::vector<Knot> knots;  ///< by x
};

struct Curves {
    bool categories = false;          ///< x values are texts
    std::vector<Position> xs;         ///< ascending
    std::vector<Curve> curves;        ///< by panel
    std::vector<std::string> panels;  ///< "ranks = 8"; one empty name without PlotOptions::facet
    std::string study;                ///< empty if the points belong to several studies
    std::string averaged_over;        ///< the axes along which points of one knot differ
    std::string y_unit;               ///< in which y values are written; empty: they are plain numbers
    std::size_t points = 0;

    std::size_t most_in_a_panel() const;  ///< number of curves
    bool averaged() const;                ///< returns whether a knot has different values
};

/// Values in order: ascending if all are numbers or quantities; else texts in the order of first appearance.
class Positions {
public:
    /// With `texts`, values that look like numbers are none.
    Positions(const std::vector<Value>& values, bool texts);
    const std::vector<Position>& all() const { return marks_; }
    bool texts() const { return texts_; }
    std::size_t of(const Value& value) const;

private:
    bool texts_ = false;
    std::vector<Position> marks_;
};

/// Reads the curves of a plot. Throws SqlError and NothingToDraw.
Curves read_curves(Table& table, const PlotOptions& options, std::vector<std::string>& notes);

}  // namespace syncline::batch
