#include "sim/platform/cluster_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/base/utf8.hpp"
#include "sim/topology/xml_text.hpp"

namespace syncline {

namespace {

/// Returns the rate of a port or cable of the network, which people know in bits: "400 Gb/s".
std::string bandwidth(double bytes_per_s) {
    const double gigabits = bytes_per_s * 8 / 1e9;
    return gigabits >= 1000 ? fmt::format("{:.4g} Tb/s", gigabits / 1000) : fmt::format("{:.4g} Gb/s", gigabits);
}

/// One level of switches, from the nodes up.
struct Level {
    std::string name, text;
    std::int64_t below = 1;     ///< number of them that the drawn group has
    bool one_per_port = false;  ///< port r of a node leads to switch r of the level, as on rails
};

/// Returns the bandwidth of a cable of that level.
double wire_Bps(const TopologySpec& spec, std::size_t level) {
    if (spec.bandwidth_Bps.empty()) return 0;
    return spec.bandwidth_Bps[std::min(level, spec.bandwidth_Bps.size() - 1)];
}

/// Returns how much more bandwidth leads down from a switch than up.
std::string oversubscription(double down_Bps, double up_Bps) {
    if (up_Bps <= 0) return "";
    const double ratio = down_Bps / up_Bps;
    return ratio <= 1.001 ? "; not oversubscribed" : fmt::format("; oversubscribed {:.3g}:1", ratio);
}

std::string cables_text(std::int64_t count, double each_Bps, const char* where) {
    return fmt::format("{} × {} {}", count, bandwidth(each_Bps), where);
}

std::vector<Level> levels_of_rails(const TopologySpec& spec, std::int64_t nics) {
    const std::int64_t per_leaf = spec.nodes_per_group * nics / std::max<std::int64_t>(1, spec.rails);
    const std::int64_t spines = spec.spines >= 0 ? spec.spines : spec.rail_spines == 0 ? 1 : 0;
    const std::int64_t up = spines + spec.rail_spines;
    const bool joined = up > 0;
    Level leaves{fmt::format("{} leaves, one for each rail", spec.rails), "", spec.rails, true};
    if (spec.nodes_per_group > 0)
        leaves.text = cables_text(per_leaf, wire_Bps(spec, 0), "down");
    else
        leaves.text = fmt::format("a port of each node, {} each", bandwidth(wire_Bps(spec, 0)));
    if (joined && spec.nodes_per_group > 0)
        leaves.text += ", " + cables_text(up, wire_Bps(spec, 1), "up") +
                       oversubscription(static_cast<double>(per_leaf) * wire_Bps(spec, 0),
                                        static_cast<double>(up) * wire_Bps(spec, 1));
    std::vector<Level> levels{leaves};
    if (spec.rail_spines > 0)
        levels.push_back({fmt::format("{} spines of each rail", spec.rail_spines), "", spec.rail_spines});
    if (spines > 0)
        levels.push_back(
            {spines == 1 ? "spine" : fmt::format("{} spines", spines), "joins the leaves of all groups", spines});
    else if (!joined)
        levels.back().text += "; rails are networks of their own";
    return levels;
}

std::vector<Level> levels_of_fat_tree(TopologySpec spec) {
    if (spec.ports > 0) {
        const std::int64_t half = spec.ports / 2;
        spec.down = {half, half, spec.ports};
        spec.up = {1, half, half};
    }
    constexpr const char* names[] = {"leaf", "spine", "core"};
    const auto count = [&](std::size_t level) { return spec.cables.empty() ? 1 : spec.cables[level]; };
    std::vector<Level> levels;
    for (std::size_t i = 0; i < spec.down.size(); ++i) {
        const std::string name = i < std::size(names) ? names[i] : "switch of level " + std::to_string(i + 1);
        const std::int64_t down = spec.down[i] * count(i);
        Level level{name, cables_text(down, wire_Bps(spec, i), "down"), 1};
        if (i > 0) level.below = spec.up[i];
        if (i + 1 < spec.down.size()) {
            const std::int64_t up = spec.up[i + 1] * count(i + 1);
            level.text += ", " + cables_text(up, wire_Bps(spec, i + 1), "up") +
                          oversubscription(static_cast<double>(down) * wire_Bps(spec, i),
                                           static_cast<double>(up) * wire_Bps(spec, i + 1));
            if (i == 0) level.below = spec.down[1];
        }
        levels.push_back(level);
    }
    return levels;
}

std::vector<Level> levels_of(const Cluster& cluster) {
    const TopologySpec& spec = cluster.fabric.topology;
    const std::string each = bandwidth(wire_Bps(spec, 0));
    if (spec.shape == Shape::rails) return levels_of_rails(spec, cluster.node.nics);
    if (spec.shape == Shape::fat_tree && (spec.ports > 0 || !spec.down.empty())) return levels_of_fat_tree(spec);
    if (spec.shape == Shape::star)
        return {{"one switch", "all ports of all nodes, " + each + " each; not oversubscribed"}};
    return {{std::string(shape_name(spec.shape)) + " fabric", each + " at each port; --expand draws it"}};
}

/// Returns the number of nodes that share the first level, or 0.
std::int64_t nodes_of_group(const Cluster& cluster) {
    const TopologySpec& spec = cluster.fabric.topology;
    if (spec.shape == Shape::rails) return spec.nodes_per_group;
    if (spec.shape != Shape::fat_tree) return 0;
    const std::int64_t down = spec.ports > 0 ? spec.ports / 2 : spec.down.empty() ? 0 : spec.down.front();
    return down / cluster.node.nics;
}

std::string links_text(const NodeDesign& node) {
    const std::string each = format_quantity(node.link.bandwidth_Bps, Dimension::bandwidth) + " each way";
    switch (node.links) {
        case NodeLinks::crossbar:
            return "NVSwitch: " + each + " for each device" + (node.switch_reduces ? "; adds up data (NVLS)" : "");
        case NodeLinks::all_to_all:
            return "a link between each two devices: " + each;
        case NodeLinks::ring:
            return "a ring of links: " + each;
        case NodeLinks::pcie:
            return "PCIe switches and the host bridge: " + each;
        case NodeLinks::mesh:
            return fmt::format("{} linked pairs of devices: {}", node.pairs.size(), each);
    }
    return "";
}

class Drawing {
public:
    explicit Drawing(const Cluster& cluster) : cluster_(cluster), levels_(levels_of(cluster)) {}

    std::string svg() {
        text(left, 30, cluster_.name + ": " + count_text(), 18, true);
        double y = 56;
        const double top = y;
        for (std::size_t i = levels_.size(); i-- > 0; y += row) level(i, y);
        const double node_top = y;
        cables(top, node_top);
        const double bottom = node(node_top);
        others(node_top);
        return fmt::format(
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
                   "{0:.0f} "
                   "{1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" fill=\"#1f2933\">\n<title>{2}</title>\n"
                   "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
                   full, bottom + 24, xml_escaped(cluster_.name)) +
               under_ + over_ + "</svg>\n";
    }

private:
    static constexpr double full = 1000, left = 24, width = 620, row = 84, high = 30, pad = 14;
    static constexpr std::int64_t most_boxes = 12;

    const Cluster& cluster_;
    std::vector<Level> levels_;
    std::string under_, over_;  ///< cables, and what covers them

    static const char* plural(std::int64_t count) { return count == 1 ? "" : "s"; }

    std::string count_text() const {
        const NodeDesign& node = cluster_.node;
        const std::string nodes = cluster_.nodes > 0 ? fmt::format("{} node{}", cluster_.nodes, plural(cluster_.nodes))
                                                     : "as many nodes as needed,";
        std::string devices = cluster_.device.name;
        for (const OtherNodes& other : cluster_.others)
            devices += fmt::format(" ({} node{} with {})", other.count, plural(other.count), other.device.name);
        return fmt::format("{} with {} × {} and {} port{} each", nodes, node.devices, devices, node.nics,
                           plural(node.nics));
    }

    void text(double x, double y, const std::string& what, double size = 13, bool bold = false,
              const char* anchor = "start") {
        fmt::format_to(std::back_inserter(over_),
                       "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                       size, anchor, bold ? " font-weight=\"bold\"" : "", xml_escaped(what));
    }

    void box(const char* kind, double x, double y, double wide, double tall, const char* fill,
             const char* stroke = "#1f2933") {
        fmt::format_to(
            std::back_inserter(over_),
            "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"3\" fill=\"{}\" "
            "stroke=\"{}\"/>\n",
            kind, x, y, wide, tall, fill, stroke);
    }

    void cable(double x, double y, double to_x, double to_y, bool many) {
        fmt::format_to(std::back_inserter(under_),
                       "<path class=\"cable\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" "
                       "stroke-width=\"{}\"/>\n",
                       x, y, to_x, to_y, many ? "#b8c2cb" : "#8895a1", many ? 0.6 : 1.4);
    }

    /// Returns the middles of the boxes of a level: all of them, or the first and the last.
    std::vector<double> middles(const Level& level) const {
        const std::int64_t drawn = std::min(level.below, most_boxes);
        std::vector<double> result;
        for (std::int64_t i = 0; i < drawn; ++i)
            result.push_back(left + width * (static_cast<double>(i) + 0.5) / static_cast<double>(drawn));
        return result;
    }

    void level(std::size_t number, double y) {
        const Level& level = levels_[number];
        const std::vector<double> at = middles(level);
        const double wide = std::min(160.0, width / static_cast<double>(at.size()) - 10);
        for (std::size_t i = 0; i < at.size(); ++i) {
            box("switch", at[i] - wide / 2, y, wide, high, "#9bd0f0");
            const bool gap = level.below > most_boxes && i + 2 == at.size();
            const std::size_t shown = i + 1 == at.size() ? static_cast<std::size_t>(level.below) - 1 : i;
            text(at[i], y + 20, gap ? "…" : level.below == 1 ? level.name : std::to_string(shown), 12, false, "middle");
        }
        const std::string count =
            level.below > 1 && !level.one_per_port && level.name.find(' ') == std::string::npos
                ? fmt::format("{} {}", level.below, level.name == "leaf" ? "leaves of a pod" : level.name + "s")
                : level.name;
        text(left + width + 20, y + 12, count, 13, true);
        lines(left + width + 20, y + 28, level.text);
    }

    /// Writes a text beside the picture, broken after commas and semicolons.
    void lines(double x, double y, const std::string& what) {
        constexpr std::size_t most = 48;
        std::string line;
        const auto end = [&] {
            text(x, y, line, 12);
            y += 15;
            line.clear();
        };
        for (std::size_t at = 0; at < what.size();) {
            const std::size_t stop = std::min(what.find_first_of(",;", at), what.size() - 1) + 1;
            const std::string part = what.substr(at, stop - at);
            if (!line.empty() && count_characters(line + part) > most) end();
            line += line.empty() && part.starts_with(' ') ? part.substr(1) : part;
            at = stop;
        }
        if (!line.empty()) end();
    }

    double port_x(std::int64_t port) const {
        return left + pad +
               (width - 2 * pad) * (static_cast<double>(port) + 0.5) / static_cast<double>(cluster_.node.nics);
    }

    /// Draws the cables between levels, and from the ports to the lowest one.
    void cables(double top, double node_top) {
        const auto y_of = [&](std::size_t number) {
            return top + row * static_cast<double>(levels_.size() - 1 - number);
        };
        for (std::size_t i = 0; i + 1 < levels_.size(); ++i)
            for (const double from : middles(levels_[i]))
                for (const double to : middles(levels_[i + 1]))
                    cable(from, y_of(i), to, y_of(i + 1) + high,
                          middles(levels_[i]).size() * middles(levels_[i + 1]).size() > 16);
        const std::vector<double> leaves = middles(levels_.front());
        for (std::int64_t port = 0; port < cluster_.node.nics; ++port) {
            const std::size_t leaf =
                levels_.front().one_per_port
                    ? std::min(static_cast<std::size_t>(port % levels_.front().below), leaves.size() - 1)
                    : 0;
            cable(port_x(port), node_top + 1, leaves[leaf], y_of(0) + high, cluster_.node.nics > 16);
        }
    }

    /// Draws the node, and returns its lower end.
    double node(double y) {
        const NodeDesign& node = cluster_.node;
        const std::int64_t columns = std::min<std::int64_t>(node.devices, 18);
        const std::int64_t rows = (node.devices + columns - 1) / columns;
        const double cell = (width - 2 * pad) / static_cast<double>(columns), tall = node.devices > 16 ? 24 : 40;
        const double height = 112 + static_cast<double>(rows) * (tall + 6);
        box("node", left, y, width, height, "#f7f8fa");
        const double port_width =
            std::max(2.0, (width - 2 * pad) / static_cast<double>(node.nics) - (node.nics > 16 ? 1.5 : 8));
        for (std::int64_t port = 0; port < node.nics; ++port)
            box("port", port_x(port) - std::min(port_width, 60.0) / 2, y - 7, std::min(port_width, 60.0), 14,
                "#ffffff");
        const double first = wire_Bps(cluster_.fabric.topology, 0);
        text(left + pad, y + 26, fmt::format("{} port{} of {}", node.nics, plural(node.nics), bandwidth(first)), 12);
        const double link_y = y + 38;
        if (node.devices > 1) {
            box("links", left + pad, link_y, width - 2 * pad, 26, "#d9efdf");
            text(left + width / 2, link_y + 17, links_text(node), 12, false, "middle");
        }
        const double devices_y = link_y + 42;
        for (std::int64_t device = 0; device < node.devices; ++device) {
            const double x = left + pad + cell * static_cast<double>(device % columns);
            const double at = devices_y + static_cast<double>(device / columns) * (tall + 6);
            const double wide = std::min(cell - 4, 90.0);
            box("device", x + (cell - wide) / 2, at, wide, tall, "#f0b23c");
            text(x + cell / 2, at + tall / 2 + 4, std::to_string(device), node.devices > 16 ? 10 : 12, false, "middle");
        }
        text(left + pad, y + height - 12, fmt::format("node 0: {} × {}", node.devices, cluster_.device.name), 13, true);
        return y + height;
    }

    /// Draws what is equal: the other nodes of the group, and the other groups.
    void others(double y) {
        const double x = left + width + 20;
        const std::int64_t nodes = cluster_.nodes, group = nodes_of_group(cluster_);
        const std::int64_t beside = group > 0 && nodes > 0 ? std::min(group, nodes) - 1
                                    : group > 0            ? group - 1
                                                           : nodes - 1;
        if (nodes == 1 || (group > 0 && beside == 0 && nodes == 0)) return;
        for (const double shift : {16.0, 8.0, 0.0})
            box("more", x + shift, y + 8 + shift, 200, 60, "#f7f8fa", "#8895a1");
        if (beside > 0)
            text(x + 12, y + 34, fmt::format("{} more node{}", beside, plural(beside)), 13, true);
        else
            text(x + 12, y + 34, "more nodes", 13, true);
        text(x + 12, y + 52, "like this one", 12);
        if (group == 0) {
            if (nodes == 0) text(x, y + 112, "as many as a plan has ranks for", 12);
        } else if (nodes == 0) {
            text(x, y + 112, fmt::format("in this group of {}; as many groups as needed", group), 12);
        } else {
            const std::int64_t groups = (nodes + group - 1) / group;
            text(x, y + 112, fmt::format("in this group; {} group{} in all", groups, plural(groups)), 12);
        }
    }
};

}  // namespace

std::string cluster_svg(const Cluster& cluster) {
    return Drawing(cluster).svg();
}

}  // namespace syncline
