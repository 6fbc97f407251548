#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "sim/base/units.hpp"
#include "sim/topology/sketch.hpp"
#include "sim/topology/xml_text.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t most_drawn = 50'000;  ///< in cables: browsers take too long for more

class CablePainter {
public:
    explicit CablePainter(const Sketch& sketch) : sketch_(sketch) {}

    std::string svg() const {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<int, int>> parallel;  // total, and seen so far
        for (const auto& [from, to] : sketch_.ends) ++parallel[std::minmax(from, to)].first;

        std::string text = fmt::format("<g fill=\"none\" stroke-opacity=\"{:.2f}\">\n", opacity());
        const bool arrows = sketch_.topology.directed() && sketch_.topology.cables <= 400;
        for (std::uint32_t cable = 0; cable < sketch_.topology.cables; cable += sketch_.drawn_every) {
            const auto& [from, to] = sketch_.ends[cable];
            auto& [count, seen] = parallel[std::minmax(from, to)];
            const double bulge = seen++ - 0.5 * (count - 1);
            const bool around = !sketch_.layout.around.empty() && sketch_.layout.around[cable];
            const std::uint32_t whole = sketch_.whole_cable(cable);
            fmt::format_to(std::back_inserter(text),
                           "<path class=\"cable\" d=\"{}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}{}{}><title>{} {} "
                           "{}{}</title></path>\n",
                           path(from, to, bulge, around), sketch_.colours.kinds[sketch_.colours.of_cable[whole]].colour,
                           sketch_.width(sketch_.wires[whole]), around ? " stroke-dasharray=\"3 2\"" : "",
                           arrows ? " marker-end=\"url(#arrow)\"" : "", bundle_data(cable),
                           xml_escaped(sketch_.topology.graph[from].name),
                           sketch_.topology.directed() ? "\u2192" : "\u2013",
                           xml_escaped(sketch_.topology.graph[to].name), cable_text(cable));
        }
        return text + "</g>\n";
    }

private:
    const Sketch& sketch_;

    double opacity() const {
        if (sketch_.aggregate != nullptr) return std::clamp(12 / std::sqrt(sketch_.topology.cables), 0.3, 0.85);
        const double wish = sketch_.spec.shape == Shape::full_mesh ? 20.0 / sketch_.topology.hosts
                                                                   : 30 / std::sqrt(sketch_.topology.cables);
        return std::clamp(wish, 0.04, 0.85);
    }

    /// Returns what follows the ends of a cable in its tooltip: ", 4 cables, 12.5 GB/s, 1 us".
    std::string cable_text(std::uint32_t cable) const {
        const Wire& wire = sketch_.wires[sketch_.whole_cable(cable)];
        std::string result;
        if (sketch_.aggregate != nullptr)
            result += ", " + counted_as(sketch_.aggregate->bundles[cable].cables, "cable", "cables");
        if (wire.bandwidth_Bps > 0) result += ", " + format_quantity(wire.bandwidth_Bps, Dimension::bandwidth);
        if (wire.latency_s > 0) result += ", " + format_quantity(wire.latency_s, Dimension::seconds);
        return result;
    }
    std::string bundle_data(std::uint32_t cable) const {
        return sketch_.aggregate != nullptr
                   ? fmt::format(" data-cables=\"{}\"", sketch_.aggregate->bundles[cable].cables)
                   : "";
    }

    std::string path(std::uint32_t from, std::uint32_t to, double bulge, bool around) const {
        const Point a = sketch_.layout.at[from], b = sketch_.layout.at[to], way = b - a;
        const double length = std::max(std::hypot(way.x, way.y), 1e-6);
        const Point ahead = (1 / length) * way, aside{-ahead.y, ahead.x};
        if (around) {
            const Point stub = 0.55 * sketch_.layout.spacing * ahead, c = a - stub, d = b + stub;
            return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, a.y, c.x, c.y, b.x, b.y,
                               d.x, d.y);
        }
        const Point end = sketch_.topology.directed() ? b - (sketch_.host_radius + 1) * ahead : b;
        if (const double height = sketch_.bow(from, to); height > 0)
            return fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}", a.x, a.y, (a.x + b.x) / 2,
                               a.y - 2 * height - 10 * bulge, end.x, end.y);
        if (bulge == 0) return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, a.y, end.x, end.y);
        // Parallel cables bend away from each other, independent of the end that they are numbered from.
        const Point middle = a + 0.5 * way + ((from < to ? 10 : -10) * bulge) * aside;
        return fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}", a.x, a.y, middle.x, middle.y, end.x, end.y);
    }
};

}  // namespace

Sketch::Sketch(const TopologySpec& whole_spec, const Topology& all, CableStyle cable_style,
               const CableColours& cable_colours, const Aggregate* blocks)
    : spec(whole_spec),
      whole(all),
      topology(blocks != nullptr ? blocks->topology : all),
      aggregate(blocks),
      style(cable_style),
      layout(lay_out(blocks != nullptr ? blocks->spec : whole_spec, topology)),
      ends(cable_ends(topology)),
      colours(cable_colours) {
    for (auto [edge, end] = boost::edges(whole.graph); edge != end; ++edge) {
        const Arc& arc = whole.graph[*edge];
        if (wires.size() <= arc.cable) wires.resize(arc.cable + 1);
        wires[arc.cable] = arc.wire;
        if (arc.wire.bandwidth_Bps > 0) bandwidths.insert(arc.wire.bandwidth_Bps);
    }
    host_radius = std::clamp(layout.spacing * 0.3, 2.0, 9.0);
    switch_half = std::clamp(layout.spacing * 0.4, 3.5, 10.0);
    font = std::clamp(layout.spacing * 0.75, 7.0, 12.0);
    drawn_every = (topology.cables + most_drawn - 1) / most_drawn;
}

double Sketch::bow(std::uint32_t from, std::uint32_t to) const {
    const Point way = layout.at[to] - layout.at[from];
    const bool passes = !layout.room.empty() && way.y == 0 && std::abs(way.x) > 1.01 * layout.room[from];
    return passes ? std::min(0.2 * std::abs(way.x), 90.0) : 0;
}

double Sketch::width(const Wire& wire) const {
    const double thin = std::clamp(40.0 / std::sqrt(topology.cables), 0.5, 1.4);
    if (style == CableStyle::plain || bandwidths.size() < 2 || wire.bandwidth_Bps <= 0) return thin;
    return std::min(thin * (1 + 0.6 * std::log2(wire.bandwidth_Bps / *bandwidths.begin())), 4.5);
}

std::string cables_svg(const Sketch& sketch) {
    return CablePainter(sketch).svg();
}

}  // namespace syncline
