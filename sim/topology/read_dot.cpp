#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "sim/base/dot.hpp"
#include "sim/topology/graph_file.hpp"

namespace syncline {

namespace {

/// Returns the number of the line of each edge, whose positions ascend.
std::vector<std::size_t> lines_of(const std::vector<DotGraph::Edge>& edges, const std::string& text) {
    std::vector<std::size_t> lines;
    std::size_t line = 1, counted = 0;
    for (const DotGraph::Edge& edge : edges) {
        line += static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                                    text.begin() + static_cast<std::ptrdiff_t>(edge.position), '\n'));
        counted = edge.position;
        lines.push_back(line);
    }
    return lines;
}

}  // namespace

FileGraph read_dot(const std::string& text) {
    DotGraph graph;
    try {
        graph = read_dot(text, {"kind", "bandwidth", "latency"},
                         [](std::size_t, std::size_t edges) { require_not_too_many(edges); });
    } catch (const DotError& error) {
        const auto line =
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(error.position), '\n');
        throw TopologyError("", fmt::format("this is not DOT: line {}: {}", line, error.what()));
    }

    // Hosts are numbered in natural order, so host-2 comes before host-10.
    std::vector<std::size_t> order(graph.vertices.size()), place(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return strverscmp(graph.vertices[a].name.c_str(), graph.vertices[b].name.c_str()) < 0;
    });
    FileGraph result;
    for (const std::size_t vertex : order) {
        place[vertex] = result.vertices.size();
        result.vertices.push_back({graph.vertices[vertex].name, graph.vertices[vertex].values[0].text});
    }
    const std::vector<std::size_t> lines = lines_of(graph.edges, text);
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
        const auto& [from, to, values, position] = graph.edges[i];
        result.edges.push_back({place[from], place[to], values[1].text, values[2].text, graph.directed, lines[i]});
    }
    return result;
}

}  // namespace syncline
