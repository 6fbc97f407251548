#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "sim/base/dot.hpp"
#include "sim/topology/graph_file.hpp"

namespace syncline {

namespace {

/// Lines of a text.
class Lines {
public:
    explicit Lines(std::string_view text) {
        for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
            ends_.push_back(at);
    }

    /// Returns the number of the line of this byte.
    std::size_t of(std::size_t position) const {
        return 1 + static_cast<std::size_t>(std::ranges::lower_bound(ends_, position) - ends_.begin());
    }

private:
    std::vector<std::size_t> ends_;
};

}  // namespace

FileGraph read_dot(const std::string& text) {
    const Lines lines(text);
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
    for (const auto& [from, to, values, position] : graph.edges)
        result.edges.push_back(
            {place[from], place[to], values[1].text, values[2].text, graph.directed, lines.of(position)});
    return result;
}

}  // namespace syncline
