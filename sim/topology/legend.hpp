#pragma once

#include <string>

#include "sim/topology/layout.hpp"

namespace syncline {

/// Returns the element of a host or switch without its end, so that attributes can follow.
std::string vertex_symbol(bool host, Point at, double radius);

/// Lines below a picture, each with a symbol and a text.
class Legend {
public:
    /// `scale`: of texts and symbols, since large pictures are shown smaller.
    Legend(double left, double top, double scale) : left_(left), bottom_(top), scale_(scale) {}

    void vertex(bool host, const std::string& text);
    void cable(const std::string& colour, double stroke, bool dashed, const std::string& text);
    void note(const std::string& text);

    double bottom() const { return bottom_; }
    const std::string& svg() const { return svg_; }

private:
    void line(const std::string& text);

    double left_, bottom_, scale_;
    std::string svg_;
};

}  // namespace syncline
