#include "sim/topology/label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/base/utf8.hpp"
#include "sim/topology/xml_text.hpp"

namespace syncline {

namespace {

using Box = std::array<Point, 4>;

/// Returns whether a line along an edge of `a` separates the boxes.
bool separated_by_edge(const Box& a, const Box& b) {
    for (std::size_t i = 0; i < 2; ++i) {
        const Point edge = a[i + 1] - a[i];
        const auto range = [&](const Box& box) {
            std::array<double, 4> places{};
            std::transform(box.begin(), box.end(), places.begin(),
                           [&](Point corner) { return corner.x * edge.x + corner.y * edge.y; });
            return std::minmax({places[0], places[1], places[2], places[3]});
        };
        const auto [a_low, a_high] = range(a);
        const auto [b_low, b_high] = range(b);
        if (a_high <= b_low || b_high <= a_low) return true;
    }
    return false;
}

}  // namespace

double text_width(std::string_view text, double font) {
    return 0.62 * font * static_cast<double>(count_characters(text));
}

std::string Label::svg() const {
    const char* name = anchor == Anchor::start ? "start" : anchor == Anchor::end ? "end" : "middle";
    const std::string place =
        angle == 0 ? fmt::format("x=\"{:.1f}\" y=\"{:.1f}\"", at.x, at.y)
                   : fmt::format("transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\"", at.x, at.y, angle);
    return fmt::format("<text {} font-size=\"{:.1f}\" text-anchor=\"{}\" dy=\"{:.2f}em\">{}</text>\n", place, font,
                       name, down, xml_escaped(text));
}

Box Label::corners() const {
    const double width = text_width(text, font), turn = angle * std::numbers::pi / 180;
    const double gap = 0.15 * font;  // to labels beside it
    const double left = (anchor == Anchor::start ? 0 : anchor == Anchor::end ? -width : -width / 2) - gap;
    const double bottom = (down + 0.2) * font, top = (down - 0.75) * font;
    const Point across{std::cos(turn), std::sin(turn)}, below{-across.y, across.x};
    const auto corner = [&](double x, double y) { return at + x * across + y * below; };
    return {corner(left, top), corner(left + width + 2 * gap, top), corner(left + width + 2 * gap, bottom),
            corner(left, bottom)};
}

bool Labels::add(const Label& label) {
    const Box box = label.corners();
    const bool covers = std::any_of(boxes_.begin(), boxes_.end(), [&](const Box& other) {
        return !separated_by_edge(box, other) && !separated_by_edge(other, box);
    });
    if (covers) return false;
    boxes_.push_back(box);
    svg_ += label.svg();
    return true;
}

}  // namespace syncline
