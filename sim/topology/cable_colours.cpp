#include "sim/topology/cable_colours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>

#include "sim/topology/layout.hpp"

namespace syncline {

namespace {

/// A kind's position in the legend and its label.
struct Kind {
    std::int64_t order = 0;
    std::string label;
};
using KindOf = std::function<Kind(std::uint32_t from, std::uint32_t to)>;

Kind distance(const TopologySpec& spec, const Topology& topology, std::uint32_t from, std::uint32_t to) {
    if (spec.shape == Shape::hypercube) {
        const std::uint32_t bits = from ^ to;
        return {bits, fmt::format("bit {}", std::countr_zero(bits))};
    }
    const std::uint32_t forward = (to + topology.hosts - from) % topology.hosts;
    if (topology.directed()) return {forward, fmt::format("i to i + {}", forward)};
    const std::uint32_t nearer = std::min(forward, topology.hosts - forward);
    return {nearer, fmt::format("i and i \u00b1 {}", nearer)};
}

Kind dimension(const std::vector<std::int64_t>& dimensions, std::uint32_t from, std::uint32_t to) {
    std::int64_t a = from, b = to, number = 1;
    for (const std::int64_t size : dimensions) {
        if (a % size != b % size) break;
        a /= size;
        b /= size;
        ++number;
    }
    return {number, fmt::format("dimension {}", number)};
}

Kind between_levels(const Topology& topology, std::uint32_t from, std::uint32_t to) {
    const auto [low, high] = std::minmax(topology.graph[from].level, topology.graph[to].level);
    const std::string below = low == 0 ? "hosts" : fmt::format("level {}", low);
    return {low * std::int64_t{1000} + high, fmt::format("{} \u2013 level {}", below, high)};
}

Kind of_dragonfly(std::uint32_t per_group, const Topology& topology, std::uint32_t from, std::uint32_t to) {
    const std::uint32_t hosts = topology.hosts;
    if (std::min(from, to) < hosts) return {0, "host and router"};
    if ((from - hosts) / per_group == (to - hosts) / per_group) return {1, "routers of a group"};
    return {2, "between groups"};
}

/// Finds the level of the hierarchy that a cable belongs to: the innermost group that contains both ends.
class HierarchyKinds {
public:
    HierarchyKinds(const TopologySpec& spec, const Topology& topology) : topology_(topology) {
        for (std::int64_t hosts = 1; const HierarchyLevel& level : spec.levels) {
            hosts *= level.size == 0 ? topology.hosts : level.size;
            group_hosts_.push_back(hosts);
        }
        std::map<std::uint32_t, std::int64_t> switches;  // counted so far, by level
        for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
            const std::uint32_t level = topology.graph[vertex].level;
            first_host_.push_back(vertex < topology.hosts ? vertex : switches[level]++ * group_hosts_[level - 1]);
        }
    }

    Kind operator()(std::uint32_t from, std::uint32_t to) const {
        std::int64_t level = std::max({topology_.graph[from].level, topology_.graph[to].level, 1U});
        while (first_host_[from] / group_of(level) != first_host_[to] / group_of(level)) ++level;
        return {level, fmt::format("level {}", level)};
    }

private:
    const Topology& topology_;
    std::vector<std::int64_t> group_hosts_;  ///< of a group of each level
    std::vector<std::int64_t> first_host_;   ///< of the group that a switch joins; a host itself

    std::int64_t group_of(std::int64_t level) const { return group_hosts_[static_cast<std::size_t>(level) - 1]; }
};

KindOf kinds_of(const TopologySpec& spec, const Topology& topology) {
    switch (spec.shape) {
        case Shape::exponential:
        case Shape::hypercube:
            return [&](std::uint32_t from, std::uint32_t to) { return distance(spec, topology, from, to); };
        case Shape::torus:
            return [dimensions = torus_dimensions(spec, topology.hosts)](std::uint32_t from, std::uint32_t to) {
                return dimension(dimensions, from, to);
            };
        case Shape::dragonfly:
            return [per_group = routers_per_group(spec, topology), &topology](std::uint32_t from, std::uint32_t to) {
                return of_dragonfly(per_group, topology, from, to);
            };
        case Shape::hierarchical:
            return HierarchyKinds(spec, topology);
        default:
            if (topology.hosts == topology.vertices()) return [](std::uint32_t, std::uint32_t) { return Kind{}; };
            return [&](std::uint32_t from, std::uint32_t to) { return between_levels(topology, from, to); };
    }
}

/// A few kinds get colours that colour-blind people can tell apart (M. Okabe, K. Ito, 2008). Many kinds get a scale
/// from dark violet over teal to yellow, in which both hue and lightness show the order (like matplotlib's viridis),
/// dark enough for paper.
std::string colour(std::size_t index, std::size_t count) {
    static constexpr const char* few[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};
    if (count == 1) return "#5b6770";
    if (count <= std::size(few)) return few[index];
    static constexpr double scale[][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {80, 180, 90}, {190, 170, 0}};
    const double place = 4 * static_cast<double>(index) / static_cast<double>(count - 1);
    const std::size_t below = std::min<std::size_t>(static_cast<std::size_t>(place), 3);
    const double part = place - static_cast<double>(below);
    int mixed[3];
    for (std::size_t i = 0; i < 3; ++i)
        mixed[i] = static_cast<int>(std::lround((1 - part) * scale[below][i] + part * scale[below + 1][i]));
    return fmt::format("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]);
}

}  // namespace

CableColours colour_cables(const TopologySpec& spec, const Topology& topology) {
    const KindOf kind_of = kinds_of(spec, topology);
    std::map<std::int64_t, std::string> labels;
    std::vector<std::int64_t> orders;
    for (const auto& [from, to] : cable_ends(topology)) {
        Kind kind = kind_of(from, to);
        orders.push_back(kind.order);
        labels.try_emplace(kind.order, std::move(kind.label));
    }
    CableColours result;
    std::map<std::int64_t, std::size_t> index;
    for (const auto& [order, label] : labels) {
        index[order] = result.kinds.size();
        result.kinds.push_back({colour(result.kinds.size(), labels.size()), label});
    }
    for (const std::int64_t order : orders) result.of_cable.push_back(index.at(order));
    return result;
}

}  // namespace syncline
