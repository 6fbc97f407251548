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
#include "sim/topology/formats.hpp"
#include "sim/topology/label.hpp"
#include "sim/topology/layout.hpp"
#include "sim/topology/sketch.hpp"
#include "sim/topology/xml_text.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t most_labels = 128;
constexpr std::uint32_t most_counts = 80;  ///< in cables: counts on more would hide them

/// Returns "12" for "host-12", for labels in little space.
std::string_view short_name(std::string_view name) {
    for (const std::string_view prefix : {"host-", "rank-"})
        if (name.starts_with(prefix)) return name.substr(prefix.size());
    return name;
}

/// Returns the element of a host or switch without its end, so that attributes can follow.
std::string vertex_symbol(bool host, Point at, double radius) {
    if (host)
        return fmt::format("<circle class=\"host\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"#f0b23c\"", at.x,
                           at.y, radius);
    return fmt::format(
        "<rect class=\"switch\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" fill=\"#9bd0f0\"",
        at.x - radius, at.y - radius, 2 * radius, 2 * radius);
}

/// Lines below a picture, each with a symbol and a text.
class Legend {
public:
    /// `scale`: of texts and symbols, since large pictures are shown smaller.
    Legend(double left, double top, double scale) : left_(left), bottom_(top), scale_(scale) {}

    void vertex(bool host, const std::string& text) {
        bottom_ += 18 * scale_;
        svg_ +=
            vertex_symbol(host, {left_ + 35 * scale_, bottom_ - 8 * scale_}, 5 * scale_) + " stroke=\"#1f2933\"/>\n";
        line(text);
    }

    void cable(const std::string& colour, double stroke, bool dashed, const std::string& text) {
        bottom_ += 18 * scale_;
        svg_ += fmt::format("<path d=\"M{:.0f} {:.0f}h{:.0f}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}/>\n",
                            left_ + 20 * scale_, bottom_ - 8 * scale_, 30 * scale_, colour, stroke,
                            dashed ? " stroke-dasharray=\"3 2\"" : "");
        line(text);
    }

    void note(const std::string& text) {
        bottom_ += 18 * scale_;
        line(text);
    }

    double bottom() const { return bottom_; }
    const std::string& svg() const { return svg_; }

private:
    void line(const std::string& text) {
        svg_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"{:.1f}\">{}</text>\n", left_ + 60 * scale_,
                            bottom_ - 4 * scale_, 12 * scale_, xml_escaped(text));
    }

    double left_, bottom_, scale_;
    std::string svg_;
};

class Picture {
public:
    explicit Picture(const Sketch& sketch) : sketch_(sketch) {
        for (std::uint32_t vertex = 0; vertex < sketch_.topology.vertices(); ++vertex) {
            double& widest = widest_[sketch_.topology.graph[vertex].level];
            widest = std::max(widest, label_width(vertex));
        }
        find_frame();
    }

    std::string svg() {
        text_ = cables_svg(sketch_);
        vertices();
        labels();
        const std::string inner = std::move(text_);
        text_.clear();
        legend();
        const double width = right_ - left_, height = bottom_ - top_;
        // Pictures a little wider than a page are made to fit; the largest would become illegible.
        constexpr double page = 1200;
        const double scale = width > page && width <= 1.25 * page ? page / width : 1;
        return fmt::format(
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{5:.0f}\" height=\"{6:.0f}\" viewBox=\"{2:.0f} "
                   "{3:.0f} {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" fill=\"#1f2933\">\n"
                   "<title>{4}</title>\n"
                   "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
                   "markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\"/>"
                   "</marker></defs>\n"
                   "<rect x=\"{2:.0f}\" y=\"{3:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
                   width, height, left_, top_, xml_escaped(title()), scale * width, scale * height) +
               inner + text_ + "</svg>\n";
    }

private:
    const Sketch& sketch_;
    std::map<std::uint32_t, double> widest_;  ///< label, by level
    double left_, right_, top_, bottom_;      ///< of the whole picture
    double scale_;                            ///< of the title and the legend, because large pictures are shown smaller
    std::string text_;

    template <class... Values>
    void put(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    }

    bool is_host(std::uint32_t vertex) const { return vertex < sketch_.topology.hosts; }
    double room(std::uint32_t vertex) const {
        return sketch_.layout.room.empty() ? sketch_.layout.spacing : sketch_.layout.room[vertex];
    }
    /// Decides whether a name is written. All names appear as tooltips; those of switches are written only if there
    /// is room for all of their level.
    bool labelled(std::uint32_t vertex) const {
        if (is_host(vertex)) return sketch_.topology.hosts <= most_labels;
        return !sketch_.layout.room.empty() && widest_.at(sketch_.topology.graph[vertex].level) < room(vertex) - 2;
    }
    std::string_view label(std::uint32_t vertex) const {
        const std::string_view name = sketch_.topology.graph[vertex].name;
        return sketch_.layout.spacing < 55 ? short_name(name) : name;
    }
    double label_width(std::uint32_t vertex) const { return text_width(label(vertex), sketch_.font); }

    bool ranks() const { return sketch_.whole.graph[0].name.starts_with("rank-"); }

    std::string title() const {
        const std::uint32_t switches = sketch_.whole.vertices() - sketch_.whole.hosts;
        const std::string shape = shape_name(sketch_.spec.shape);
        return fmt::format(
            "{}{}: {}{}, {}",
            sketch_.whole.name.empty() || sketch_.whole.name == shape ? "" : sketch_.whole.name + ", ", shape,
            ranks() ? counted_as(sketch_.whole.hosts, "rank", "ranks")
                    : counted_as(sketch_.whole.hosts, "host", "hosts"),
            switches == 0 ? "" : ", " + counted_as(switches, "switch", "switches"),
            sketch_.whole.directed() ? counted_as(sketch_.whole.cables, "one-way connection", "one-way connections")
                                     : counted_as(sketch_.whole.cables, "cable", "cables"));
    }

    void find_frame() {
        left_ = right_ = sketch_.layout.at.at(0).x;
        top_ = bottom_ = sketch_.layout.at.at(0).y;
        double widest = 0;
        for (std::uint32_t vertex = 0; vertex < sketch_.topology.vertices(); ++vertex) {
            const Point at = sketch_.layout.at[vertex];
            left_ = std::min(left_, at.x);
            right_ = std::max(right_, at.x);
            top_ = std::min(top_, at.y);
            bottom_ = std::max(bottom_, at.y);
            if (labelled(vertex)) widest = std::max(widest, label_width(vertex));
        }
        const double least = std::max(560.0, 60 + 10.5 * static_cast<double>(count_characters(title())));
        const double stub = sketch_.layout.around.empty() ? 0 : 0.4 * sketch_.layout.spacing;
        const double margin = widest + stub + 34, wanted = std::max(0.0, least - (right_ - left_ + 2 * margin)) / 2;
        left_ -= margin + wanted;
        right_ += margin + wanted;
        scale_ = std::max(1.0, (right_ - left_) / 1000);
        top_ -= margin + 40 * scale_;
        for (const auto& [from, to] : sketch_.ends)
            top_ = std::min(top_, sketch_.layout.at[from].y - sketch_.bow(from, to) - 50 * scale_);
        bottom_ += margin;
    }

    void vertices() {
        put("<g stroke=\"#1f2933\" stroke-width=\"{:.1f}\">\n", sketch_.host_radius < 4 ? 0.6 : 1.0);
        for (std::uint32_t vertex = 0; vertex < sketch_.topology.vertices(); ++vertex) {
            text_ += vertex_symbol(is_host(vertex), sketch_.layout.at[vertex],
                                   is_host(vertex) ? sketch_.host_radius : sketch_.switch_half);
            put("{}><title>{}</title></{}>\n", block_data(vertex), xml_escaped(vertex_text(vertex)),
                is_host(vertex) ? "circle" : "rect");
        }
        text_ += "</g>\n";
    }

    std::string block_data(std::uint32_t vertex) const {
        if (sketch_.aggregate == nullptr) return "";
        const Block& block = sketch_.aggregate->blocks[vertex];
        return fmt::format(" data-hosts=\"{}\" data-switches=\"{}\" data-cables=\"{}\"", block.hosts, block.switches,
                           block.cables);
    }

    std::string vertex_text(std::uint32_t vertex) const {
        const std::string& name = sketch_.topology.graph[vertex].name;
        if (sketch_.aggregate == nullptr) return name;
        const Block& block = sketch_.aggregate->blocks[vertex];
        std::string text = name == block.members ? name : fmt::format("{}: {}", name, block.members);
        if (block.hosts > 0 && block.switches > 0) text += ", " + counted_as(block.switches, "switch", "switches");
        if (block.cables > 0) text += ", " + counted_as(block.cables, "cable", "cables") + " inside";
        return text;
    }

    /// Returns a label outside of the symbol, along the outward direction if labels are close.
    Label label_of(std::uint32_t vertex) const {
        using enum Label::Anchor;
        const Point out = sketch_.layout.outward[vertex];
        Label result{.at = sketch_.layout.at[vertex] +
                           ((is_host(vertex) ? sketch_.host_radius : 1.3 * sketch_.switch_half) + 4) * out,
                     .text = std::string(label(vertex)),
                     .font = sketch_.font};
        if (label_width(vertex) > room(vertex) - 2 || room(vertex) < 20) {
            result.angle = std::atan2(out.y, out.x) * 180 / std::numbers::pi + (out.x < -1e-9 ? 180 : 0);
            result.anchor = out.x < -1e-9 ? end : start;
        } else {
            result.anchor = out.x > 0.3 ? start : out.x < -0.3 ? end : middle;
            result.down = 0.35 + 0.4 * out.y;
        }
        return result;
    }

    bool counts_shown() const { return sketch_.aggregate != nullptr && sketch_.topology.cables <= most_counts; }

    /// Writes the labels that cover no other one, white behind the letters.
    void labels() {
        Labels labels;
        for (std::uint32_t vertex = 0; vertex < sketch_.topology.vertices(); ++vertex)
            if (labelled(vertex)) labels.add(label_of(vertex));
        if (counts_shown()) {
            for (std::uint32_t cable = 0; cable < sketch_.topology.cables; ++cable) {
                const auto& [from, to] = sketch_.ends[cable];
                if (sketch_.aggregate->bundles[cable].cables == 1) continue;
                const Point middle = sketch_.layout.at[from] + 0.5 * (sketch_.layout.at[to] - sketch_.layout.at[from]);
                labels.add({.at = middle - Point{0, sketch_.bow(from, to)},
                            .text = fmt::format("\u00d7{}", sketch_.aggregate->bundles[cable].cables),
                            .font = sketch_.font});
            }
        }
        put("<g class=\"labels\" stroke=\"#ffffff\" stroke-width=\"2.5\" stroke-linejoin=\"round\" "
            "paint-order=\"stroke\">\n");
        text_ += labels.svg() + "</g>\n";
    }

    std::string hosts_text(bool host) const {
        std::string one = !host ? "switch" : ranks() ? "rank" : "host";
        if (sketch_.aggregate == nullptr) return one;
        if (!host) return "switches";
        const bool mixed = std::any_of(sketch_.aggregate->blocks.begin(), sketch_.aggregate->blocks.end(),
                                       [](const Block& block) { return block.hosts > 0 && block.switches > 0; });
        return one + (mixed ? "s, with the switches that join them" : "s");
    }

    void legend() {
        put("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"{:.1f}\" font-weight=\"bold\">{}</text>\n",
            left_ + 20 * scale_, top_ + 28 * scale_, 17 * scale_, xml_escaped(title()));
        Legend legend(left_, bottom_, scale_);
        legend.vertex(true, hosts_text(true));
        if (sketch_.topology.hosts < sketch_.topology.vertices()) legend.vertex(false, hosts_text(false));
        cable_kinds(legend);
        if (sketch_.aggregate != nullptr) {
            std::uint32_t inside = 0;
            for (const Block& block : sketch_.aggregate->blocks) inside += block.cables;
            if (inside > 0) legend.note(counted_as(inside, "cable is", "cables are") + " inside the symbols");
            legend.note(std::string(counts_shown() ? "\u00d7n: n cables; " : "") +
                        "--expand draws each host and cable");
        }
        if (sketch_.drawn_every > 1) legend.note(fmt::format("one of every {} cables is drawn", sketch_.drawn_every));
        text_ += legend.svg();
        bottom_ = legend.bottom() + 16 * scale_;
    }

    std::set<std::size_t> drawn_kinds() const {
        std::set<std::size_t> kinds;
        for (std::uint32_t cable = 0; cable < sketch_.topology.cables; ++cable)
            kinds.insert(sketch_.colours.of_cable[sketch_.whole_cable(cable)]);
        return kinds;
    }

    void colours(Legend& legend) const {
        constexpr std::size_t most_lines = 16;
        const std::set<std::size_t> kinds = drawn_kinds();
        const std::size_t step = (kinds.size() + most_lines - 1) / most_lines;
        std::size_t number = 0;
        for (const std::size_t kind : kinds)
            if (number++ % step == 0)
                legend.cable(sketch_.colours.kinds[kind].colour, 2.5 * scale_, false,
                             sketch_.colours.kinds[kind].label);
        if (step > 1) legend.note(fmt::format("one of every {} kinds of cables is listed", step));
    }

    void cable_kinds(Legend& legend) const {
        if (sketch_.style == CableStyle::by_kind && sketch_.colours.kinds.size() > 1) colours(legend);
        if (std::find(sketch_.layout.around.begin(), sketch_.layout.around.end(), true) != sketch_.layout.around.end())
            legend.cable("#5b6770", 1.5 * scale_, true, "continues at the opposite side");
        constexpr std::size_t most_widths = 6;
        if (sketch_.style != CableStyle::by_kind || sketch_.bandwidths.size() < 2) return;
        if (sketch_.bandwidths.size() > most_widths)
            return legend.note(fmt::format("cables from {} (thin) to {} (thick)",
                                           format_quantity(*sketch_.bandwidths.begin(), Dimension::bandwidth),
                                           format_quantity(*sketch_.bandwidths.rbegin(), Dimension::bandwidth)));
        for (const double bandwidth : sketch_.bandwidths)
            legend.cable("#5b6770", sketch_.width({bandwidth, 0}), false,
                         format_quantity(bandwidth, Dimension::bandwidth));
    }
};

}  // namespace

std::string to_svg(const TopologySpec& spec, const Topology& topology, CableStyle style, Detail detail) {
    if (topology.hosts == 0) throw std::logic_error("cannot draw a topology without hosts");
    const CableColours colours = colour_cables(spec, topology);
    if (detail == Detail::all || !is_large(topology)) return Picture({spec, topology, style, colours, nullptr}).svg();
    const Aggregate aggregate = aggregated(spec, topology, colours);
    return Picture({spec, topology, style, colours, &aggregate}).svg();
}

}  // namespace syncline
