#include "sim/topology/cable_colours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/topology/families.hpp"
#include "sim/topology/layout.hpp"

namespace syncline {

namespace {

/// Kinds by the levels that a cable joins; without switches there is one kind.
CableKinds between_levels(const TopologySpec&, const Topology& topology) {
    if (topology.hosts == topology.vertices()) return [](std::uint32_t, std::uint32_t) { return CableKind{}; };
    return [&](std::uint32_t from, std::uint32_t to) -> CableKind {
        const auto [low, high] = std::minmax(topology.graph[from].level, topology.graph[to].level);
        const std::string below = low == 0 ? "hosts" : fmt::format("level {}", low);
        return {low * std::int64_t{1000} + high, fmt::format("{} \u2013 level {}", below, high)};
    };
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
    const auto kinds_of = shapes::family_of(spec.shape).cable_kinds;
    const CableKinds kind_of = (kinds_of == nullptr ? between_levels : kinds_of)(spec, topology);
    std::map<std::int64_t, std::string> labels;
    std::vector<std::int64_t> orders;
    for (const auto& [from, to] : cable_ends(topology)) {
        CableKind kind = kind_of(from, to);
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
