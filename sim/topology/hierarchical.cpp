#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "sim/topology/builder.hpp"

namespace syncline::shapes {

namespace {

void require_patterns(std::span<const HierarchyLevel> levels) {
    if (levels.empty()) throw TopologyError("levels", "a hierarchy needs at least one level");
    for (const HierarchyLevel& level : levels) {
        switch (level.pattern) {
            case Shape::star:
            case Shape::ring:
            case Shape::full_mesh:
            case Shape::exponential:
            case Shape::hypercube:
                break;
            default:
                throw TopologyError("levels",
                                    fmt::format("'{}' is not a pattern for a hierarchy", shape_name(level.pattern)),
                                    "write star, ring, full-mesh, exponential or hypercube");
        }
        if (level.size == 0 && &level != &levels.back())
            throw TopologyError("levels", "every level except the outermost needs a size");
    }
}

void require_power_of_two(const Request& request, std::size_t members) {
    if (std::has_single_bit(members)) return;
    const bool inner = request.spec.shape == Shape::hierarchical;
    throw TopologyError(inner ? "levels" : "hosts",
                        fmt::format("the number of {} of a hypercube must be a power of two, not {}",
                                    inner ? "members" : request.hosts_word(), members),
                        fmt::format("{} or {}", std::bit_floor(members), std::bit_ceil(members)));
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
    if (pattern == Shape::hypercube) require_power_of_two(request, group.size());
    if (request.spec.directed) {
        join_exponential_one_way(builder, group);
    } else {
        join(builder, pattern, group, level);
    }
    return group.front();
}

}  // namespace

Topology hierarchical(const Request& request, std::span<const HierarchyLevel> levels) {
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
    return builder.take();
}

}  // namespace syncline::shapes
