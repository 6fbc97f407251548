#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/topology/builder.hpp"
#include "sim/topology/formats.hpp"
#include "sim/topology/layout.hpp"

/// The user's own graph: hosts in the order in which `edges` names them. No overlay if it has switches.
namespace syncline::shapes {

namespace {

class UserGraph {
public:
    /// `parallel`: cables may be.
    UserGraph(const TopologySpec& spec, bool parallel) {
        const std::set<std::string> switches = switch_set(spec);
        for (const std::string& name : spec.order) add(name);
        for (const UserEdge& edge : spec.edges) {
            for (const std::string& name : {edge.from, edge.to}) {
                if (!switches.contains(name)) add(name);
            }
        }
        hosts = std::ssize(names);
        for (const std::string& name : spec.switches) add(name);
        for (const std::string& name : names)
            if (const char* problem = problem_of_name(name))
                throw TopologyError("edges", fmt::format("the name '{}' {}", name, problem));
        require_edges(spec, parallel);
        find_levels(spec);
    }

    std::vector<std::string> names;    ///< by vertex, hosts first
    std::vector<std::int64_t> levels;  ///< by vertex: cables to the nearest host
    std::int64_t hosts = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> ends;  ///< by edge

private:
    static std::set<std::string> switch_set(const TopologySpec& spec) {
        std::set<std::string> found;
        for (const std::string& name : spec.switches) {
            if (!found.insert(name).second) throw TopologyError("switches", fmt::format("'{}' is listed twice", name));
        }
        return found;
    }

    void add(const std::string& name) {
        if (vertices_.try_emplace(name, std::ssize(names)).second) names.push_back(name);
    }

    void require_edges(const TopologySpec& spec, bool parallel) {
        if (spec.edges.empty()) throw TopologyError("edges", "a graph needs edges");
        if (std::ssize(spec.edges) > most_cables) refuse_so_many("edges");
        std::set<std::pair<std::int64_t, std::int64_t>> seen;
        for (const UserEdge& edge : spec.edges) {
            if (edge.from == edge.to)
                throw TopologyError("edges", fmt::format("an edge connects '{}' to itself", edge.from));
            ends.emplace_back(vertices_.at(edge.from), vertices_.at(edge.to));
            const bool added = seen.insert(std::minmax(ends.back().first, ends.back().second)).second;
            if (!added && !(parallel && edge.parallel))
                throw TopologyError("edges", fmt::format("'{}' and '{}' are connected twice", edge.from, edge.to),
                                    "one edge is a full-duplex cable");
        }
    }

    /// Finds the levels breadth-first from all hosts.
    void find_levels(const TopologySpec& spec) {
        std::vector<std::vector<std::int64_t>> neighbours(names.size());
        for (const auto& [a, b] : ends) {
            neighbours[static_cast<std::size_t>(a)].push_back(b);
            neighbours[static_cast<std::size_t>(b)].push_back(a);
        }
        for (const std::string& name : spec.switches) {
            if (neighbours[static_cast<std::size_t>(vertices_.at(name))].empty())
                throw TopologyError("switches", fmt::format("switch '{}' has no edges", name));
        }
        levels.assign(names.size(), -1);
        std::vector<std::int64_t> queue;
        for (std::int64_t host = 0; host < hosts; ++host) {
            levels[static_cast<std::size_t>(host)] = 0;
            queue.push_back(host);
        }
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const auto from = static_cast<std::size_t>(queue[next]);
            for (const std::int64_t to : neighbours[from]) {
                if (levels[static_cast<std::size_t>(to)] != -1) continue;
                levels[static_cast<std::size_t>(to)] = levels[from] + 1;
                queue.push_back(to);
            }
        }
        const auto lost = std::find(levels.begin(), levels.end(), -1);
        if (lost != levels.end())
            throw TopologyError("switches",
                                fmt::format("no host is connected to '{}', directly or through other switches",
                                            names[static_cast<std::size_t>(lost - levels.begin())]));
    }

    std::map<std::string, std::int64_t> vertices_;
};

Topology build_graph(const Request& request) {
    const TopologySpec& spec = request.spec;
    if (!request.fabric() && !spec.switches.empty())
        throw TopologyError("switches", "an overlay consists of ranks only and has no switches");
    const UserGraph graph(spec, request.fabric());
    request.require_fit(graph.hosts, "this graph", "edges");

    std::vector<std::int64_t> cable_levels;
    for (const auto& [a, b] : graph.ends)
        cable_levels.push_back(
            std::min(graph.levels[static_cast<std::size_t>(a)], graph.levels[static_cast<std::size_t>(b)]));
    Builder builder(request, *std::max_element(cable_levels.begin(), cable_levels.end()) + 1);
    for (std::size_t vertex = 0; vertex < graph.names.size(); ++vertex) {
        if (static_cast<std::int64_t>(vertex) < graph.hosts) {
            builder.add_host(graph.names[vertex]);
        } else {
            builder.add_switch(graph.names[vertex], graph.levels[vertex]);
        }
    }
    for (std::size_t edge = 0; edge < spec.edges.size(); ++edge) {
        Wire wire = spec.edges[edge].wire;
        const Wire own = builder.wire(cable_levels[edge]);
        if (wire.bandwidth_Bps == 0) wire.bandwidth_Bps = own.bandwidth_Bps;
        if (wire.latency_s == 0 && !spec.edges[edge].instant) wire.latency_s = own.latency_s;
        builder.add_cable(graph.ends[edge].first, graph.ends[edge].second, wire);
    }
    return builder.take();
}

GraphLayout lay_out_graph(const TopologySpec&, const Topology& topology) {
    const bool switches = topology.hosts < topology.vertices();
    return switches || topology.cables + 1 == topology.vertices() ? layers(topology) : springs(topology);
}

constexpr ShapeParameter graph_parameters[]{
    {"switches", &TopologySpec::switches, "Vertices of a graph that are not hosts."},
    {"edges", &TopologySpec::edges, "Cables of a graph."},
    {"file", parse_graph, "GraphML or DOT file that holds a graph, relative to this file."}};

}  // namespace

constinit const Family families::graph{.shape = Shape::graph,
                                       .name = "graph",
                                       .parameters = graph_parameters,
                                       .build = build_graph,
                                       .lay_out = lay_out_graph};

}  // namespace syncline::shapes
