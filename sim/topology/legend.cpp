#include "sim/topology/legend.hpp"

#include <fmt/format.h>

#include "sim/topology/xml_text.hpp"

namespace syncline {

std::string vertex_symbol(bool host, Point at, double radius) {
    if (host)
        return fmt::format("<circle class=\"host\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"#f0b23c\"", at.x,
                           at.y, radius);
    return fmt::format(
        "<rect class=\"switch\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" fill=\"#9bd0f0\"",
        at.x - radius, at.y - radius, 2 * radius, 2 * radius);
}

void Legend::line(const std::string& text) {
    svg_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"{:.1f}\">{}</text>\n", left_ + 60 * scale_,
                        bottom_ - 4 * scale_, 12 * scale_, xml_escaped(text));
}

void Legend::vertex(bool host, const std::string& text) {
    bottom_ += 18 * scale_;
    svg_ += vertex_symbol(host, {left_ + 35 * scale_, bottom_ - 8 * scale_}, 5 * scale_) + " stroke=\"#1f2933\"/>\n";
    line(text);
}

void Legend::cable(const std::string& colour, double stroke, bool dashed, const std::string& text) {
    bottom_ += 18 * scale_;
    svg_ += fmt::format("<path d=\"M{:.0f} {:.0f}h{:.0f}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}/>\n",
                        left_ + 20 * scale_, bottom_ - 8 * scale_, 30 * scale_, colour, stroke,
                        dashed ? " stroke-dasharray=\"3 2\"" : "");
    line(text);
}

void Legend::note(const std::string& text) {
    bottom_ += 18 * scale_;
    line(text);
}

}  // namespace syncline
