#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <set>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/base/utf8.hpp"
#include "sim/topology/cable_colours.hpp"
#include "sim/topology/formats.hpp"
#include "sim/topology/layout.hpp"
#include "sim/topology/xml.hpp"

namespace syncline {

namespace {

constexpr const char* host_colour = "#f0b23c";
constexpr const char* switch_colour = "#9bd0f0";
constexpr std::uint32_t most_labels = 128;
constexpr std::uint32_t most_drawn = 50'000;  ///< in cables: browsers take too long for more

/// Returns "12" for "host-12", for labels in little space.
std::string_view short_name(std::string_view name) {
    for (const std::string_view prefix : {"host-", "rank-"})
        if (name.starts_with(prefix)) return name.substr(prefix.size());
    return name;
}

class Picture {
public:
    Picture(const TopologySpec& spec, const Topology& topology, CableStyle style)
        : spec_(spec),
          topology_(topology),
          style_(style),
          layout_(lay_out(spec, topology)),
          colours_(colour_cables(spec, topology)) {
        for (auto [edge, end] = boost::edges(topology.graph); edge != end; ++edge) {
            const Arc& arc = topology.graph[*edge];
            if (wires_.size() <= arc.cable) wires_.resize(arc.cable + 1);
            wires_[arc.cable] = arc.wire;
            if (arc.wire.bandwidth_Bps > 0) bandwidths_.insert(arc.wire.bandwidth_Bps);
        }
        host_radius_ = std::clamp(layout_.spacing * 0.3, 2.0, 9.0);
        switch_half_ = std::clamp(layout_.spacing * 0.4, 3.5, 10.0);
        font_ = std::clamp(layout_.spacing * 0.75, 7.0, 12.0);
        drawn_every_ = (topology.cables + most_drawn - 1) / most_drawn;
        find_frame();
    }

    std::string svg() {
        cables();
        vertices();
        labels();
        const std::string inner = std::move(text_);
        text_.clear();
        legend();
        const double width = right_ - left_, height = bottom_ - top_;
        return fmt::format(
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"{2:.0f} "
                   "{3:.0f} {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" fill=\"#1f2933\">\n"
                   "<title>{4}</title>\n"
                   "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
                   "markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\"/>"
                   "</marker></defs>\n"
                   "<rect x=\"{2:.0f}\" y=\"{3:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
                   width, height, left_, top_, xml_escaped(title())) +
               inner + text_ + "</svg>\n";
    }

private:
    const TopologySpec& spec_;
    const Topology& topology_;
    const CableStyle style_;
    const GraphLayout layout_;
    const CableColours colours_;
    std::vector<Wire> wires_;  ///< by cable
    std::set<double> bandwidths_;
    double host_radius_, switch_half_, font_;
    std::uint32_t drawn_every_;
    double left_, right_, top_, bottom_;  ///< of the whole picture
    double scale_;                        ///< of the title and the legend, because large pictures are shown smaller
    std::string text_;

    template <class... Values>
    void put(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    }

    bool is_host(std::uint32_t vertex) const { return vertex < topology_.hosts; }
    double room(std::uint32_t vertex) const { return layout_.room.empty() ? layout_.spacing : layout_.room[vertex]; }
    /// Decides whether a name is written. All names appear as tooltips; those of switches are written only if they are
    /// not in the way.
    bool labelled(std::uint32_t vertex) const {
        if (is_host(vertex)) return topology_.hosts <= most_labels;
        return !layout_.room.empty() && label_width(vertex) < room(vertex);
    }
    std::string_view label(std::uint32_t vertex) const {
        const std::string_view name = topology_.graph[vertex].name;
        return layout_.spacing < 55 ? short_name(name) : name;
    }
    double label_width(std::uint32_t vertex) const {
        return 0.58 * font_ * static_cast<double>(count_characters(label(vertex)));
    }

    std::string title() const {
        const auto count = [](std::size_t number, const char* one, const char* many) {
            return fmt::format("{} {}", number, number == 1 ? one : many);
        };
        const bool ranks = topology_.hosts > 0 && topology_.graph[0].name.starts_with("rank-");
        const std::uint32_t switches = topology_.vertices() - topology_.hosts;
        const std::string shape = shape_name(spec_.shape);
        return fmt::format("{}{}: {}{}, {}",
                           topology_.name.empty() || topology_.name == shape ? "" : topology_.name + ", ", shape,
                           ranks ? count(topology_.hosts, "rank", "ranks") : count(topology_.hosts, "host", "hosts"),
                           switches == 0 ? "" : ", " + count(switches, "switch", "switches"),
                           topology_.directed() ? count(topology_.cables, "one-way connection", "one-way connections")
                                                : count(topology_.cables, "cable", "cables"));
    }

    void find_frame() {
        left_ = right_ = layout_.at.at(0).x;
        top_ = bottom_ = layout_.at.at(0).y;
        double widest = 0;
        for (std::uint32_t vertex = 0; vertex < topology_.vertices(); ++vertex) {
            const Point at = layout_.at[vertex];
            left_ = std::min(left_, at.x);
            right_ = std::max(right_, at.x);
            top_ = std::min(top_, at.y);
            bottom_ = std::max(bottom_, at.y);
            if (labelled(vertex)) widest = std::max(widest, label_width(vertex));
        }
        const double least = std::max(560.0, 60 + 10.5 * static_cast<double>(count_characters(title())));
        const double stub = layout_.around.empty() ? 0 : 0.4 * layout_.spacing;
        const double margin = widest + stub + 34, wanted = std::max(0.0, least - (right_ - left_ + 2 * margin)) / 2;
        left_ -= margin + wanted;
        right_ += margin + wanted;
        scale_ = std::max(1.0, (right_ - left_) / 1000);
        top_ -= margin + 40 * scale_;
        bottom_ += margin;
    }

    double width(const Wire& wire) const {
        const double thin = std::clamp(40.0 / std::sqrt(topology_.cables), 0.5, 1.4);
        if (style_ == CableStyle::plain || bandwidths_.size() < 2 || wire.bandwidth_Bps <= 0) return thin;
        return std::min(thin * (1 + 0.6 * std::log2(wire.bandwidth_Bps / *bandwidths_.begin())), 4.5);
    }

    double opacity() const {
        const double wish = spec_.shape == Shape::full_mesh ? 20.0 / topology_.hosts : 30 / std::sqrt(topology_.cables);
        return std::clamp(wish, 0.04, 0.85);
    }

    std::string wire_text(const Wire& wire) const {
        std::string result;
        if (wire.bandwidth_Bps > 0) result += ", " + format_quantity(wire.bandwidth_Bps, Dimension::bandwidth);
        if (wire.latency_s > 0) result += ", " + format_quantity(wire.latency_s, Dimension::seconds);
        return result;
    }

    void cables() {
        const auto ends = cable_ends(topology_);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<int, int>> parallel;  // total, and seen so far
        for (const auto& [from, to] : ends) ++parallel[std::minmax(from, to)].first;

        put("<g fill=\"none\" stroke-opacity=\"{:.2f}\">\n", opacity());
        const bool arrows = topology_.directed() && topology_.cables <= 400;
        for (std::uint32_t cable = 0; cable < topology_.cables; cable += drawn_every_) {
            const auto& [from, to] = ends[cable];
            auto& [count, seen] = parallel[std::minmax(from, to)];
            const double bulge = seen++ - 0.5 * (count - 1);
            const bool around = !layout_.around.empty() && layout_.around[cable];
            put("<path class=\"cable\" d=\"{}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}{}><title>{} {} "
                "{}{}</title></path>\n",
                path(from, to, bulge, around), colours_.kinds[colours_.of_cable[cable]].colour, width(wires_[cable]),
                around ? " stroke-dasharray=\"3 2\"" : "", arrows ? " marker-end=\"url(#arrow)\"" : "",
                xml_escaped(topology_.graph[from].name), topology_.directed() ? "\u2192" : "\u2013",
                xml_escaped(topology_.graph[to].name), wire_text(wires_[cable]));
        }
        text_ += "</g>\n";
    }

    std::string path(std::uint32_t from, std::uint32_t to, double bulge, bool around) const {
        const Point a = layout_.at[from], b = layout_.at[to], way = b - a;
        const double length = std::max(std::hypot(way.x, way.y), 1e-6);
        const Point ahead = (1 / length) * way, aside{-ahead.y, ahead.x};
        if (around) {
            const Point stub = 0.55 * layout_.spacing * ahead, c = a - stub, d = b + stub;
            return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, a.y, c.x, c.y, b.x, b.y,
                               d.x, d.y);
        }
        const Point end = topology_.directed() ? b - (host_radius_ + 1) * ahead : b;
        if (bulge == 0) return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, a.y, end.x, end.y);
        // Parallel cables bend away from each other, independent of the end that they are numbered from.
        const Point middle = a + 0.5 * way + ((from < to ? 10 : -10) * bulge) * aside;
        return fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}", a.x, a.y, middle.x, middle.y, end.x, end.y);
    }

    void symbol(bool host, Point at, double radius, double half) {
        if (host)
            put("<circle class=\"host\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"", at.x, at.y, radius,
                host_colour);
        else
            put("<rect class=\"switch\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" "
                "fill=\"{}\"",
                at.x - half, at.y - half, 2 * half, 2 * half, switch_colour);
    }

    void vertices() {
        put("<g stroke=\"#1f2933\" stroke-width=\"{:.1f}\">\n", host_radius_ < 4 ? 0.6 : 1.0);
        for (std::uint32_t vertex = 0; vertex < topology_.vertices(); ++vertex) {
            symbol(is_host(vertex), layout_.at[vertex], host_radius_, switch_half_);
            put("><title>{}</title></{}>\n", xml_escaped(topology_.graph[vertex].name),
                is_host(vertex) ? "circle" : "rect");
        }
        text_ += "</g>\n";
    }

    /// Writes labels outside of the symbols, along the outward direction if labels are close; white behind the letters.
    void labels() {
        put("<g font-size=\"{:.1f}\" stroke=\"#ffffff\" stroke-width=\"2.5\" stroke-linejoin=\"round\" "
            "paint-order=\"stroke\">\n",
            font_);
        for (std::uint32_t vertex = 0; vertex < topology_.vertices(); ++vertex) {
            if (!labelled(vertex)) continue;
            const Point out = layout_.outward[vertex];
            const Point at = layout_.at[vertex] + ((is_host(vertex) ? host_radius_ : 1.3 * switch_half_) + 4) * out;
            const bool turned = label_width(vertex) > room(vertex) - 2 || room(vertex) < 20;
            if (turned) {
                const double angle = std::atan2(out.y, out.x) * 180 / std::numbers::pi + (out.x < -1e-9 ? 180 : 0);
                const char* anchor = out.x < -1e-9 ? "end" : "start";
                put("<text transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" text-anchor=\"{}\" "
                    "dy=\"0.35em\">{}</text>\n",
                    at.x, at.y, angle, anchor, xml_escaped(label(vertex)));
            } else {
                const char* anchor = out.x > 0.3 ? "start" : out.x < -0.3 ? "end" : "middle";
                put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" dy=\"{:.2f}em\">{}</text>\n", at.x, at.y,
                    anchor, 0.35 + 0.4 * out.y, xml_escaped(label(vertex)));
            }
        }
        text_ += "</g>\n";
    }

    /// Adds a line of the legend: a symbol, then a text.
    void legend_line(const std::string& text) {
        put("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"{:.1f}\">{}</text>\n", left_ + 60 * scale_,
            bottom_ - 4 * scale_, 12 * scale_, xml_escaped(text));
    }
    void legend_cable(const std::string& colour, double stroke, bool dashed, const std::string& text) {
        bottom_ += 18 * scale_;
        put("<path d=\"M{:.0f} {:.0f}h{:.0f}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}/>\n", left_ + 20 * scale_,
            bottom_ - 8 * scale_, 30 * scale_, colour, stroke, dashed ? " stroke-dasharray=\"3 2\"" : "");
        legend_line(text);
    }

    void legend() {
        put("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"{:.1f}\" font-weight=\"bold\">{}</text>\n",
            left_ + 20 * scale_, top_ + 28 * scale_, 17 * scale_, xml_escaped(title()));
        for (const bool host : {true, false}) {
            if (!host && topology_.hosts == topology_.vertices()) continue;
            bottom_ += 18 * scale_;
            symbol(host, {left_ + 35 * scale_, bottom_ - 8 * scale_}, 5 * scale_, 5 * scale_);
            put(" stroke=\"#1f2933\"/>\n");
            legend_line(host ? topology_.graph[0].name.starts_with("rank-") ? "rank" : "host" : "switch");
        }
        if (style_ == CableStyle::by_kind && colours_.kinds.size() > 1)
            for (const auto& [colour, text] : colours_.kinds) legend_cable(colour, 2.5 * scale_, false, text);
        if (std::find(layout_.around.begin(), layout_.around.end(), true) != layout_.around.end())
            legend_cable("#5b6770", 1.5 * scale_, true, "continues at the opposite side");
        constexpr std::size_t most_widths = 6;
        if (style_ == CableStyle::by_kind && bandwidths_.size() > 1 && bandwidths_.size() <= most_widths)
            for (const double bandwidth : bandwidths_)
                legend_cable("#5b6770", width({bandwidth, 0}), false, format_quantity(bandwidth, Dimension::bandwidth));
        if (style_ == CableStyle::by_kind && bandwidths_.size() > most_widths) {
            bottom_ += 18 * scale_;
            legend_line(fmt::format("cables from {} (thin) to {} (thick)",
                                    format_quantity(*bandwidths_.begin(), Dimension::bandwidth),
                                    format_quantity(*bandwidths_.rbegin(), Dimension::bandwidth)));
        }
        if (drawn_every_ > 1) {
            bottom_ += 18 * scale_;
            legend_line(fmt::format("one of every {} cables is drawn", drawn_every_));
        }
        bottom_ += 16 * scale_;
    }
};

}  // namespace

std::string to_svg(const TopologySpec& spec, const Topology& topology, CableStyle style) {
    if (topology.hosts == 0) throw std::logic_error("cannot draw a topology without hosts");
    return Picture(spec, topology, style).svg();
}

}  // namespace syncline
