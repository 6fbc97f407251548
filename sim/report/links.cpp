#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/analysis/observed.hpp"
#include "sim/base/pattern.hpp"
#include "sim/report/parts.hpp"
#include "sim/topology/formats.hpp"

namespace syncline {

namespace {

/// Returns the load of every used link, the most utilised first.
std::vector<LinkLoad> loads(const Cluster& cluster, const Result& result, const TimelineView* view) {
    if (view == nullptr || view->timeline.links.empty() || cluster.network == NetworkModel::Constant)
        return result.links;
    const double seconds = result.time.sending_s(view->timeline.links);
    if (seconds <= 0) return result.links;
    std::vector<LinkLoad> all;
    for (const LinkUse& use : view->timeline.links)
        all.push_back({use.name, use.bytes, static_cast<double>(use.bytes) / (use.bandwidth_Bps * seconds)});
    std::stable_sort(all.begin(), all.end(),
                     [](const LinkLoad& a, const LinkLoad& b) { return a.utilisation > b.utilisation; });
    return all;
}

/// Returns the number of nodes that the processes are on.
std::int64_t used_nodes(const Result& result, const TimelineView* view) {
    std::int64_t used = result.cost.nodes;
    if (view != nullptr)
        for (const Process& process : view->graph.processes())
            used = std::max<std::int64_t>(used, process.place.node + std::int64_t{1});
    return used;
}

/// Returns the utilisation of each cable in its busier direction; parallel cables, which share a name, all have that of
/// the busiest. Counts links without a cable in `elsewhere`.
std::vector<double> by_cable(const Topology& topology, const std::vector<LinkLoad>& loads, std::size_t& elsewhere) {
    std::map<std::string, std::vector<std::uint32_t>> cables;
    for (auto [edge, end] = boost::edges(topology.graph); edge != end; ++edge)
        cables[topology.graph[boost::source(*edge, topology.graph)].name + "->" +
               topology.graph[boost::target(*edge, topology.graph)].name]
            .push_back(topology.graph[*edge].cable);
    std::vector<double> most(topology.cables, 0);
    for (const LinkLoad& load : loads) {
        const auto found = cables.find(load.name);
        if (found == cables.end()) {
            ++elsewhere;
            continue;
        }
        for (const std::uint32_t cable : found->second) most[cable] = std::max(most[cable], load.utilisation);
    }
    return most;
}

/// Groups links, which are in order of utilisation, that differ only in their numbers.
Json groups_of(const std::vector<LinkLoad>& all, std::size_t most) {
    constexpr double same = 1e-3;
    struct Group {
        std::string pattern;
        const LinkLoad* first;
        std::size_t count;
    };
    std::vector<Group> groups;
    for (const LinkLoad& load : all) {
        const std::string pattern = pattern_of(load.name);
        const auto known = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
            return group.pattern == pattern && group.first->utilisation - load.utilisation <= same;
        });
        if (known != groups.end())
            ++known->count;
        else if (groups.size() < most)
            groups.push_back({pattern, &load, 1});
    }
    Json json = Json::array();
    for (const Group& group : groups)
        json.push_back({{"links", group.count > 1 ? group.pattern : group.first->name},
                        {"count", group.count},
                        {"bytes", group.first->bytes},
                        {"utilisation", group.first->utilisation}});
    return json;
}

/// Rounds to four decimals, which is finer than eyes can see.
Json shortened(const std::vector<double>& values) {
    Json json = Json::array();
    for (const double value : values) json.push_back(std::round(value * 1e4) / 1e4);
    return json;
}

}  // namespace

Topology drawn_fabric(const Cluster& cluster, std::int64_t nodes) {
    const bool star = cluster.fabric.topology.shape == Shape::star;
    TopologySpec spec = cluster.fabric.topology;
    if (star) spec.hosts = 0;
    return make_topology(spec, Use::fabric,
                         (star ? nodes : std::max(cluster.fabric_nodes(), nodes)) * cluster.node.nics);
}

Json page_links(const Cluster& cluster, const Result& result, const TimelineView* view, const PageLimits& limits,
                std::string& picture) {
    const std::vector<LinkLoad> all = loads(cluster, result, view);
    Json table = Json::array(), notes = Json::array(), cables = nullptr;
    for (std::size_t i = 0; i < std::min(all.size(), limits.links); ++i)
        table.push_back({{"link", all[i].name}, {"bytes", all[i].bytes}, {"utilisation", all[i].utilisation}});
    if (all.size() > limits.links)
        notes.push_back(fmt::format("The table lists the {} most utilised of {} links.", limits.links, all.size()));
    if (view == nullptr && !all.empty())
        notes.push_back(fmt::format("Only the {} most utilised links are known.", all.size()));
    if (cluster.native) {
        notes.push_back("Platforms in SimGrid's own format have no picture.");
    } else {
        const Topology fabric = drawn_fabric(cluster, used_nodes(result, view));
        // A lower estimate of the size, so that a picture that cannot fit is not drawn at all.
        constexpr std::size_t least_bytes = 80;
        if ((fabric.cables + fabric.vertices()) * least_bytes <= limits.picture_bytes)
            picture = to_svg(cluster.fabric.topology, fabric, CableStyle::plain);
        if (picture.empty() || picture.size() > limits.picture_bytes) {
            picture.clear();
            notes.push_back(
                fmt::format("The fabric has {} hosts, {} switches and {} cables, too many for a picture "
                            "on this page; the table lists the busiest links. Draw it with `syncline topology`.",
                            fabric.hosts, fabric.vertices() - fabric.hosts, fabric.cables));
        } else {
            std::size_t elsewhere = 0;
            cables = shortened(by_cable(fabric, all, elsewhere));
            if (elsewhere > 0) notes.push_back(fmt::format("{} links inside nodes are not in the picture.", elsewhere));
        }
    }
    return {{"links", std::move(table)},
            {"groups", groups_of(all, limits.link_groups)},
            {"cables", std::move(cables)},
            {"notes", std::move(notes)}};
}

}  // namespace syncline
