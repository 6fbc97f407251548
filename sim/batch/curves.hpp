#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/batch/plot.hpp"

/// What a plot shows of a table: a curve for each value of the series, a knot for each x that it has points at.
namespace syncline::batch {

/// A value that points share: where it lies and how it is written.
struct Mark {
    double at = 0;  ///< the number, a quantity in its base unit; of texts their place in the order, from 0
    std::string text;
};

struct Knot {
    std::size_t x = 0;  ///< in Curves::xs
    double mean = 0, least = 0, most = 0;
};

struct Curve {
    std::string name;
    std::vector<Knot> knots;  ///< by x
};

struct Curves {
    bool categories = false;  ///< x are texts
    std::vector<Mark> xs;     ///< ascending
    std::vector<Curve> curves;
    std::string study;          ///< empty if the points are of several
    std::string averaged_over;  ///< what points of one knot differ in

    bool averaged() const;  ///< a knot stands for different values
};

/// Values in order: numbers and quantities ascending, if all are such; else texts as they first appear.
class Marks {
public:
    explicit Marks(const std::vector<Value>& values);
    const std::vector<Mark>& all() const { return marks_; }
    bool texts() const { return texts_; }
    std::size_t of(const Value& value) const;

private:
    bool texts_ = false;
    std::vector<Mark> marks_;
};

/// Throws SqlError and NothingToDraw.
Curves read_curves(Table& table, const PlotOptions& options, std::vector<std::string>& notes);

}  // namespace syncline::batch
