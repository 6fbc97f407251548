#include <algorithm>
#include <cmath>

#include "sim/base/utf8.hpp"
#include "sim/topology/layout.hpp"

namespace syncline {

namespace {

using Level = std::vector<std::uint32_t>;

std::vector<std::uint32_t> depths(const Graph& graph, std::uint32_t root) {
    std::vector<std::uint32_t> depth(boost::num_vertices(graph), 0), queue{root};
    for (std::size_t next = 0; next < queue.size(); ++next)
        for (auto [edge, end] = boost::out_edges(queue[next], graph); edge != end; ++edge) {
            const auto to = static_cast<std::uint32_t>(boost::target(*edge, graph));
            if (to == root || depth[to] != 0) continue;
            depth[to] = depth[queue[next]] + 1;
            queue.push_back(to);
        }
    return depth;
}

/// Returns the heights of the vertices, counted from the bottom.
std::vector<std::uint32_t> heights(const Topology& topology) {
    std::vector<std::uint32_t> height;
    if (topology.hosts == topology.vertices()) {
        height = depths(topology.graph, 0);
        const std::uint32_t deepest = *std::max_element(height.begin(), height.end());
        for (std::uint32_t& value : height) value = deepest - value;
    } else {
        for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex)
            height.push_back(topology.graph[vertex].level);
    }
    return height;
}

class Layering {
public:
    explicit Layering(const Topology& topology) : graph_(topology.graph), height_(heights(topology)) {
        x_.assign(height_.size(), 0);
        levels_.resize(*std::max_element(height_.begin(), height_.end()) + 1);
        for (std::uint32_t vertex = 0; vertex < height_.size(); ++vertex) levels_[height_[vertex]].push_back(vertex);
        if (topology.cables + 1 != topology.vertices() || !place_tree(levels_.back().front())) place_levels();
    }

    GraphLayout layout() const {
        GraphLayout layout;
        const double places = 1 + *std::max_element(x_.begin(), x_.end());
        layout.spacing = std::max(9.0, std::min(std::max(64.0, 7.5 * longest_name() + 12), 1100 / places));
        const double width = places * layout.spacing, levels = static_cast<double>(levels_.size());
        const double step = std::clamp(std::max(420.0, width * 0.4) / levels, 24.0, std::max(150.0, width * 0.16));
        for (std::uint32_t vertex = 0; vertex < x_.size(); ++vertex) {
            layout.at.push_back({x_[vertex] * layout.spacing, -step * height_[vertex]});
            layout.outward.push_back({0, height_[vertex] == 0 ? 1.0 : -1.0});
        }
        layout.room.assign(x_.size(), layout.spacing);
        for (Level level : levels_) {
            std::sort(level.begin(), level.end(), [this](std::uint32_t a, std::uint32_t b) { return x_[a] < x_[b]; });
            double room = width;
            for (std::size_t i = 1; i < level.size(); ++i)
                room = std::min(room, layout.spacing * (x_[level[i]] - x_[level[i - 1]]));
            for (const std::uint32_t vertex : level) layout.room[vertex] = room;
        }
        return layout;
    }

private:
    const Graph& graph_;
    std::vector<std::uint32_t> height_;
    std::vector<double> x_;  ///< in units of the hosts' spacing
    std::vector<Level> levels_;

    /// Returns the number of characters of the longest name at the bottom.
    double longest_name() const {
        std::size_t longest = 0;
        for (const std::uint32_t vertex : levels_.front())
            longest = std::max(longest, count_characters(graph_[vertex].name));
        return static_cast<double>(longest);
    }

    Level below(std::uint32_t vertex) const {
        Level result;
        for (auto [edge, end] = boost::out_edges(vertex, graph_); edge != end; ++edge) {
            const auto to = static_cast<std::uint32_t>(boost::target(*edge, graph_));
            if (height_[to] < height_[vertex]) result.push_back(to);
        }
        std::sort(result.begin(), result.end());
        return result;
    }

    double mean(const Level& vertices) const {
        double sum = 0;
        for (const std::uint32_t vertex : vertices) sum += x_[vertex];
        return sum / static_cast<double>(vertices.size());
    }

    /// Puts leaves beside each other and every other vertex above the middle of its children. Returns false if not all
    /// vertices are below the root, because a cable joins two of one level.
    bool place_tree(std::uint32_t root) {
        // Recursion would be as deep as the tree, and a tree of arity 1 is as deep as it has vertices.
        Level order, open{root};
        while (!open.empty()) {
            const std::uint32_t vertex = open.back();
            open.pop_back();
            order.push_back(vertex);
            const Level children = below(vertex);
            open.insert(open.end(), children.rbegin(), children.rend());
        }
        if (order.size() < x_.size()) return false;
        double place = 0;
        for (const std::uint32_t vertex : order)
            if (below(vertex).empty()) x_[vertex] = place++;
        for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
            const Level children = below(*vertex);
            if (!children.empty()) x_[*vertex] = (x_[children.front()] + x_[children.back()]) / 2;
        }
        return true;
    }

    /// Puts hosts in their order, and switches in the order of the means of their neighbours below, spread over the
    /// width.
    void place_levels() {
        const std::size_t widest = std::max_element(levels_.begin(), levels_.end(), [](const Level& a, const Level& b) {
                                       return a.size() < b.size();
                                   })->size();
        for (Level& level : levels_) {
            std::vector<double> wish(x_.size(), 0);
            for (const std::uint32_t vertex : level) {
                const Level children = below(vertex);
                wish[vertex] = children.empty() ? vertex : mean(children);
            }
            std::stable_sort(level.begin(), level.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return wish[a] < wish[b] - 1e-9; });
            const double share = static_cast<double>(widest) / static_cast<double>(level.size());
            for (std::size_t i = 0; i < level.size(); ++i) x_[level[i]] = (static_cast<double>(i) + 0.5) * share - 0.5;
        }
    }
};

}  // namespace

GraphLayout layers(const Topology& topology) {
    return Layering(topology).layout();
}

}  // namespace syncline
