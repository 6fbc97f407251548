#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/topology/builder.hpp"
#include "sim/topology/layout.hpp"

/// Hierarchical: groups of consecutive hosts, groups of groups, …, each level connected in a pattern of its own. A
/// group is represented by its switch if the pattern is a star and the use a fabric, and by its first member otherwise.
/// With an open outermost size, the last group of each level may be incomplete.
namespace syncline::shapes {

namespace {

void require_patterns(std::span<const HierarchyLevel> levels) {
    if (levels.empty()) throw TopologyError("levels", "a hierarchy needs at least one level");
    for (const HierarchyLevel& level : levels) {
        if (family_of(level.pattern).join == nullptr)
            throw TopologyError("levels",
                                fmt::format("'{}' is not a pattern for a hierarchy", shape_name(level.pattern)),
                                "write star, ring, full-mesh, exponential or hypercube");
        if (level.size == 0 && &level != &levels.back())
            throw TopologyError("levels", "every level except the outermost needs a size");
    }
}

std::int64_t count_hosts(const Request& request, std::span<const HierarchyLevel> levels) {
    if (levels.back().size == 0) return request.hosts();
    std::int64_t hosts = 1;
    std::string sizes;
    for (const HierarchyLevel& level : levels) {
        hosts = capped_product(hosts, level.size);
        sizes += fmt::format("{}{}", sizes.empty() ? "" : " x ", level.size);
    }
    request.require_fit(hosts, "the hierarchy of " + sizes, "levels");
    return hosts;
}

/// Connects a group and returns its representative.
std::int64_t join_group(Builder& builder, const Request& request, Shape pattern, std::vector<std::int64_t> group,
                        std::int64_t level, const std::string& switch_name) {
    if (pattern == Shape::star && request.fabric())
        group.insert(group.begin(), builder.add_switch(switch_name, level + 1));
    family_of(pattern).join(builder, group, level);
    return group.front();
}

/// Returns whether all choices between equally short paths are directions around a ring.
bool is_circular(const TopologySpec& spec) {
    if (spec.shape != Shape::hierarchical) return spec.shape == Shape::ring;
    return std::none_of(spec.levels.begin(), spec.levels.end(),
                        [](const HierarchyLevel& level) { return family_of(level.pattern).branches; });
}

constexpr double spacing = 34;

/// Nests circles in circles, by the sizes of the groups, innermost first. Hosts are numbered group by group. In a star
/// of ranks the first member of a group is in its middle, in a star of hosts the group's switch.
class Nesting {
public:
    Nesting(const TopologySpec& spec, const Topology& topology) : topology_(topology) {
        std::size_t hosts = 1;
        double extent = spacing / 2;
        for (const HierarchyLevel& given : spec.levels) {
            const std::size_t rest = (topology.hosts + hosts - 1) / hosts;
            const auto members = given.size == 0 ? rest : static_cast<std::size_t>(given.size);
            const bool star = given.pattern == Shape::star;
            const bool middle = star && topology.hosts == topology.vertices();
            const std::size_t around = middle ? members - 1 : members;
            double radius = radius_around(around, extent);
            if (star) radius = std::max(radius, around == 0 ? 0 : 2 * extent);
            levels_.push_back({hosts, members, middle, radius});
            extent = (extent + radius) * 1.25;
            hosts *= members;
        }
        layout_.spacing = spacing;
        layout_.at.resize(topology.vertices());
        layout_.outward.assign(topology.vertices(), Point{0, -1});
        next_switch_ = topology.hosts;
        switch_of_level(spec);
        place(levels_.size(), 0, {}, 0);
    }

    const GraphLayout& layout() const { return layout_; }

private:
    struct Level {
        std::size_t hosts;  ///< in one member
        std::size_t members;
        bool middle;                   ///< the first member is in the middle
        double radius;                 ///< of the circle of members
        std::size_t first_switch = 0;  ///< 0: none
    };

    const Topology& topology_;
    std::vector<Level> levels_;
    std::size_t next_switch_;
    GraphLayout layout_;

    /// Finds the first switch of each level. Switches are numbered level by level, and group by group within a level.
    void switch_of_level(const TopologySpec& spec) {
        if (topology_.hosts == topology_.vertices()) return;
        for (std::size_t i = 0; i < levels_.size(); ++i) {
            if (spec.levels[i].pattern != Shape::star) continue;
            levels_[i].first_switch = next_switch_;
            const std::size_t group = levels_[i].hosts * levels_[i].members;
            next_switch_ += (topology_.hosts + group - 1) / group;
        }
    }

    /// Places group `index` of the groups that span `height` levels, with its first member at `start` of the circle.
    void place(std::size_t height, std::size_t index, Point centre, double start) {
        if (height == 0) {
            if (index < topology_.hosts) layout_.at[index] = centre;
            return;
        }
        const Level& level = levels_[height - 1];
        if (level.first_switch != 0 && index * level.hosts * level.members < topology_.hosts)
            layout_.at[level.first_switch + index] = centre;
        const std::size_t first = level.middle ? 1 : 0;
        const std::size_t around = level.members - first;
        for (std::size_t member = 0; member < level.members; ++member) {
            const double turn =
                member < first ? start : start + static_cast<double>(member - first) / static_cast<double>(around);
            const std::size_t inner = index * level.members + member;
            if (inner * level.hosts >= topology_.hosts) return;
            const Point way = member < first ? Point{} : on_circle(1, turn);
            // First members represent their groups and face the middle, where their cables go.
            place(height - 1, inner, centre + level.radius * way, turn + 0.5);
            if (height == 1) layout_.outward[inner] = member < first ? Point{0, -1} : way;
        }
    }
};

/// A cable belongs to the level of the innermost group that contains both ends.
CableKinds levels_of_cables(const TopologySpec& spec, const Topology& topology) {
    std::vector<std::int64_t> group_hosts{1};  // of a group of each level
    for (const HierarchyLevel& level : spec.levels)
        group_hosts.push_back(group_hosts.back() * (level.size == 0 ? topology.hosts : level.size));
    std::map<std::uint32_t, std::int64_t> switches;  // counted so far, by level
    std::vector<std::int64_t> first_host;            // of the group that a switch joins; a host itself
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
        const std::uint32_t level = topology.graph[vertex].level;
        first_host.push_back(vertex < topology.hosts ? vertex : switches[level]++ * group_hosts[level]);
    }
    return [&topology, group_hosts, first_host](std::uint32_t from, std::uint32_t to) -> CableKind {
        std::uint32_t level = std::max({topology.graph[from].level, topology.graph[to].level, 1U});
        while (first_host[from] / group_hosts[level] != first_host[to] / group_hosts[level]) ++level;
        return {level, fmt::format("level {}", level)};
    };
}

constexpr ShapeParameter hierarchical_parameters[]{
    {"levels", &TopologySpec::levels,
     "Levels of a hierarchical topology, groups of groups, innermost first. In an overlay rank 0 of a "
     "group represents it at the next level."}};

}  // namespace

Topology build_hierarchy(const Request& request, std::span<const HierarchyLevel> levels) {
    require_patterns(levels);
    const auto height = static_cast<std::int64_t>(levels.size());
    const std::int64_t hosts = count_hosts(request, levels);
    Builder builder(request, height);
    builder.add_hosts(hosts);

    std::vector<std::int64_t> members(static_cast<std::size_t>(hosts));
    std::iota(members.begin(), members.end(), 0);
    for (std::int64_t level = 0; level < height; ++level) {
        const auto& [pattern, size] = levels[static_cast<std::size_t>(level)];
        const auto most = static_cast<std::ptrdiff_t>(size == 0 ? hosts : size);
        std::vector<std::int64_t> representatives;
        for (auto begin = members.begin(); begin != members.end();) {
            const auto end = begin + std::min(most, members.end() - begin);
            const std::string name = height == 1 ? fmt::format("switch-{}", representatives.size())
                                                 : fmt::format("switch-{}-{}", level + 1, representatives.size());
            representatives.push_back(join_group(builder, request, pattern, {begin, end}, level, name));
            begin = end;
        }
        members = std::move(representatives);
    }
    Topology topology = builder.take();
    topology.circular = is_circular(request.spec);
    return topology;
}

constinit const Family families::hierarchical{
    .shape = Shape::hierarchical,
    .name = "hierarchical",
    .called = "a hierarchical topology",
    .parameters = hierarchical_parameters,
    .build = [](const Request& request) { return build_hierarchy(request, request.spec.levels); },
    .lay_out = [](const TopologySpec& spec, const Topology& it) { return Nesting(spec, it).layout(); },
    .cable_kinds = levels_of_cables};

}  // namespace syncline::shapes
