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
    std::vector<Knot> knots;  ///< by x
};

struct Curves {
    bool categories = false;   ///< x values are texts
    std::vector<Position> xs;  ///< ascending
    std::vector<Curve> curves;
    std::string study;          ///< empty if the points belong to several studies
    std::string averaged_over;  ///< the axes along which points of one knot differ
    std::string y_unit;         ///< in which y values are written; empty: they are plain numbers
    std::size_t points = 0;

    bool averaged() const;  ///< returns whether a knot has different values
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
