#include "sim/analysis/used_parts.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

using Number = std::uint32_t;  ///< of a vertex

/// The fabric between ports, as lists of neighbours.
class UsedFabric {
public:
    explicit UsedFabric(const Topology& fabric)
        : neighbours_(fabric.vertices()), used_(fabric.vertices(), false), used_cables_(fabric.cables, false) {
        const auto [begin, end] = boost::edges(fabric.graph);
        for (auto edge = begin; edge != end; ++edge) {
            const auto from = static_cast<Number>(boost::source(*edge, fabric.graph));
            const auto to = static_cast<Number>(boost::target(*edge, fabric.graph));
            neighbours_[from].push_back({to, fabric.graph[*edge].cable});
        }
    }

    /// Marks all that is between the ports.
    void use(const std::set<Number>& ports) {
        if (ports.size() < 2) return;
        // Most ports have one cable, to a switch that they share with others: it stands for them.
        std::set<Number> ends;
        for (const Number port : ports) {
            used_[port] = true;
            if (neighbours_[port].size() != 1) {
                ends.insert(port);
                continue;
            }
            const auto [gate, cable] = neighbours_[port].front();
            used_[gate] = used_cables_[cable] = true;
            ends.insert(gate);
        }
        for (const Number end : ends) use_paths(end, ends);
    }

    std::int64_t switches(std::uint32_t hosts) const { return std::count(used_.begin() + hosts, used_.end(), true); }
    std::int64_t cables() const { return std::count(used_cables_.begin(), used_cables_.end(), true); }

private:
    struct Neighbour {
        Number vertex = 0;
        std::uint32_t cable = 0;
    };

    /// Marks the shortest paths from `source` to each of `ends`.
    void use_paths(Number source, const std::set<Number>& ends) {
        constexpr auto unreached = std::numeric_limits<std::uint32_t>::max();
        std::vector<std::uint32_t> distance(neighbours_.size(), unreached);
        std::vector<Number> reached{source};
        distance[source] = 0;
        for (std::size_t i = 0; i < reached.size(); ++i)
            for (const Neighbour& next : neighbours_[reached[i]])
                if (distance[next.vertex] == unreached) {
                    distance[next.vertex] = distance[reached[i]] + 1;
                    reached.push_back(next.vertex);
                }
        std::vector<bool> on_path(neighbours_.size(), false);
        for (const Number end : ends) on_path[end] = distance[end] != unreached;
        // Farthest first: all that a vertex leads to is known when its turn comes.
        std::ranges::reverse(reached);
        for (const Number vertex : reached) {
            if (!on_path[vertex]) continue;
            used_[vertex] = true;
            for (const Neighbour& before : neighbours_[vertex])
                if (distance[before.vertex] + 1 == distance[vertex])
                    on_path[before.vertex] = used_cables_[before.cable] = true;
        }
    }

    std::vector<std::vector<Neighbour>> neighbours_;
    std::vector<bool> used_, used_cables_;
};

}  // namespace

double mtbf_s(const PartFailures& failures, const UsedParts& parts) {
    double rate = 0;
    const auto add = [&](const std::optional<double>& each_s, std::int64_t number) {
        if (each_s) rate += static_cast<double>(number) / *each_s;
    };
    add(failures.device_s, parts.devices);
    add(failures.node_s, parts.nodes);
    add(failures.switch_s, parts.switches);
    add(failures.link_s, parts.links);
    return rate > 0 ? 1 / rate : std::numeric_limits<double>::infinity();
}

UsedParts used_parts(const Cluster& cluster, const std::vector<Place>& places, std::int64_t nodes) {
    UsedParts parts{static_cast<std::int64_t>(places.size()), nodes};
    if (!cluster.failures.of_fabric() || cluster.native) return parts;
    std::uint32_t last = 0;
    std::set<std::uint32_t> used_nodes;
    for (const Place& place : places) {
        last = std::max(last, place.node);
        used_nodes.insert(place.node);
    }
    if (used_nodes.size() < 2) return parts;
    const Wiring wiring(cluster, last + 1);
    std::set<Number> ports;
    for (const Place& place : places) ports.insert(wiring.fabric_host(place));
    UsedFabric fabric(wiring.fabric());
    fabric.use(ports);
    parts.switches = fabric.switches(wiring.fabric().hosts);
    parts.links = fabric.cables();
    return parts;
}

}  // namespace syncline
