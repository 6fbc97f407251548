#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/topology/shape.hpp"
#include "tests/catch.hpp"

/// Properties of a graph that topology tests ask for.
namespace syncline {

using Neighbours = std::vector<std::string>;

inline TopologySpec spec_of(Shape shape, std::int64_t hosts = 0) {
    TopologySpec spec;
    spec.shape = shape;
    spec.hosts = hosts;
    return spec;
}

inline std::uint32_t switches(const Topology& topology) {
    return topology.vertices() - topology.hosts;
}

/// Counts the ends of cables at a vertex.
inline std::size_t degree(const Topology& topology, std::uint32_t vertex) {
    return boost::out_degree(vertex, topology.graph);
}

inline std::uint32_t vertex_named(const Topology& topology, const std::string& name) {
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
        if (topology.graph[vertex].name == name) return vertex;
    }
    FAIL("no vertex " << name);
    return 0;
}

/// Returns the names of a vertex's neighbours, sorted; twice for two cables.
inline Neighbours neighbours(const Topology& topology, const std::string& name) {
    Neighbours found;
    for (auto [edge, end] = boost::out_edges(vertex_named(topology, name), topology.graph); edge != end; ++edge)
        found.push_back(topology.graph[boost::target(*edge, topology.graph)].name);
    std::sort(found.begin(), found.end());
    return found;
}

/// Counts the cables, or one-way connections, from a vertex to each other vertex.
inline std::map<std::pair<std::uint32_t, std::uint32_t>, int> connections(const Topology& topology) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> found;
    for (auto [edge, end] = boost::edges(topology.graph); edge != end; ++edge)
        ++found[{static_cast<std::uint32_t>(boost::source(*edge, topology.graph)),
                 static_cast<std::uint32_t>(boost::target(*edge, topology.graph))}];
    return found;
}

/// Counts the cables between levels by bandwidth.
inline std::map<double, std::uint32_t> cables_by_bandwidth(const Topology& topology) {
    std::map<double, std::set<std::uint32_t>> found;
    for (auto [edge, end] = boost::edges(topology.graph); edge != end; ++edge)
        found[topology.graph[*edge].wire.bandwidth_Bps].insert(topology.graph[*edge].cable);
    std::map<double, std::uint32_t> counts;
    for (const auto& [bandwidth, cables] : found) counts[bandwidth] = static_cast<std::uint32_t>(cables.size());
    return counts;
}

/// Checks properties of every topology of full-duplex cables.
inline void check_sound(const Topology& topology) {
    CHECK_NOTHROW(require_connected(topology));
    CHECK_FALSE(topology.directed());
    CHECK(boost::num_edges(topology.graph) == 2 * std::size_t{topology.cables});
    std::set<std::string> names;
    bool hosts_first = true, hosts_at_level_0 = true;
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
        names.insert(topology.graph[vertex].name);
        const bool host = topology.graph[vertex].kind == VertexKind::host;
        hosts_first &= host == (vertex < topology.hosts);
        hosts_at_level_0 &= host == (topology.graph[vertex].level == 0);
    }
    CHECK(hosts_first);
    CHECK(hosts_at_level_0);
    CHECK(names.size() == topology.vertices());
    const auto all = connections(topology);
    CHECK(std::all_of(all.begin(), all.end(), [&](const auto& connection) {
        const auto& [ends, count] = connection;
        return ends.first != ends.second && all.at({ends.second, ends.first}) == count;
    }));
}

/// Checks a shape without switches: exactly the pairs for which `joined` is true have a cable, and only one.
inline void check_pairs(const Topology& topology, const std::function<bool(std::uint32_t, std::uint32_t)>& joined) {
    check_sound(topology);
    CHECK(switches(topology) == 0);
    const auto all = connections(topology);
    bool as_defined = true;
    for (std::uint32_t a = 0; a < topology.hosts; ++a) {
        for (std::uint32_t b = 0; b < topology.hosts; ++b) {
            const auto found = all.find({a, b});
            as_defined &= (found == all.end() ? 0 : found->second) == (a != b && joined(a, b) ? 1 : 0);
        }
    }
    CHECK(as_defined);
}

inline void check_refused(const TopologySpec& spec, Use use, std::int64_t hosts, const std::string& key) {
    CAPTURE(shape_name(spec.shape), hosts, key);
    try {
        make_topology(spec, use, hosts);
        FAIL_CHECK("accepted");
    } catch (const TopologyError& error) {
        CAPTURE(error.what());
        CHECK(error.key == key);
        CHECK_FALSE(std::string(error.what()).empty());
    }
}

inline constexpr Use fabric = Use::fabric, overlay = Use::overlay;

}  // namespace syncline
