#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/topology/layout.hpp"

/// Texts in pictures, and the space that they take.
namespace syncline {

/// Estimates the width of a text in pixels, for the widest of the usual fonts.
double text_width(std::string_view text, double font);

struct Label {
    enum class Anchor { start, middle, end };

    Point at;
    std::string text;
    double font = 12;
    Anchor anchor = Anchor::middle;
    double angle = 0;    ///< clockwise, in degrees
    double down = 0.35;  ///< from `at` to the base line, in units of the font

    std::string svg() const;
    /// Returns the corners of the text's box, in order.
    std::array<Point, 4> corners() const;
};

/// Labels of which none covers another one.
class Labels {
public:
    /// Adds a label unless it would cover an earlier one; returns whether it was added.
    bool add(const Label& label);
    const std::string& svg() const { return svg_; }

private:
    std::vector<std::array<Point, 4>> boxes_;
    std::string svg_;
};

}  // namespace syncline
