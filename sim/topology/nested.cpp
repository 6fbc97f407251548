#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/topology/layout.hpp"

namespace syncline {

namespace {

constexpr double spacing = 34;

/// Returns the radius of a circle around which `members` circles of the given radius fit side by side.
double radius_around(std::size_t members, double radius) {
    if (members < 2) return 0;
    return std::max(radius / std::sin(std::numbers::pi / static_cast<double>(members)), 1.2 * radius);
}

/// Hosts are numbered group by group. In a star of ranks the first member of a group is in its middle, in a star of
/// hosts the group's switch.
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

}  // namespace

GraphLayout nested(const TopologySpec& spec, const Topology& topology) {
    return Nesting(spec, topology).layout();
}

std::uint32_t routers_per_group(const TopologySpec& spec, const Topology& topology) {
    if (spec.routers != 0) return static_cast<std::uint32_t>(spec.routers);
    return 2 * topology.hosts / (topology.vertices() - topology.hosts);  // a dragonfly is balanced with a = 2p
}

GraphLayout groups_of_routers(const TopologySpec& spec, const Topology& topology) {
    GraphLayout layout;
    layout.at.resize(topology.vertices());
    layout.outward.assign(topology.vertices(), {0, -1});
    layout.spacing = 14;
    const std::size_t routers = topology.vertices() - topology.hosts;
    const std::size_t per_router = topology.hosts / routers;
    const std::size_t per_group = routers_per_group(spec, topology);
    const std::size_t groups = routers / per_group;

    const double of_routers =
        radius_around(per_group, std::max(16.0, layout.spacing * static_cast<double>(per_router) / 2 * 0.75));
    const double of_hosts = of_routers + 28, of_groups = radius_around(groups, of_hosts + 22);
    for (std::size_t router = 0; router < routers; ++router) {
        const std::size_t group = router / per_group;
        const double group_turn = static_cast<double>(group) / static_cast<double>(groups);
        // The first routers of a group are on the outside.
        const double turn = group_turn + static_cast<double>(router % per_group) / static_cast<double>(per_group);
        const Point centre = on_circle(of_groups, group_turn);
        layout.at[topology.hosts + router] = centre + on_circle(of_routers, turn);
        for (std::size_t i = 0; i < per_router; ++i) {
            const double along = (static_cast<double>(i) + 0.5) / static_cast<double>(per_router) - 0.5;
            const double host_turn = turn + 0.8 * along / static_cast<double>(per_group);
            layout.at[router * per_router + i] = centre + on_circle(of_hosts, host_turn);
            layout.outward[router * per_router + i] = on_circle(1, host_turn);
        }
    }
    return layout;
}

}  // namespace syncline
