#include "sim/topology/measures.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace syncline {

namespace {

constexpr std::uint64_t most_flow_steps = 100'000'000;

/// Finds paths that share no cable, from a growing set of hosts to one more host. Boost's maximum flows run to the end,
/// but here each flow may stop at the minimum cut so far, and it soon reaches the set: few of its steps leave the
/// neighbourhood.
class DisjointPaths {
public:
    DisjointPaths(const Topology& topology, bool reversed)
        : halves_of_(topology.vertices()), within_(topology.vertices(), false), next_(topology.vertices(), none) {
        const Graph& graph = topology.graph;
        std::vector<std::uint32_t> half_of_cable(topology.cables, none);
        for (auto [edge, end] = boost::edges(graph); edge != end; ++edge) {
            std::uint32_t& half = half_of_cable[graph[*edge].cable];
            if (half != none) {
                halves_[half + 1].free = 1;
                continue;
            }
            half = static_cast<std::uint32_t>(halves_.size());
            auto from = boost::source(*edge, graph), to = boost::target(*edge, graph);
            if (reversed) std::swap(from, to);
            halves_of_[from].push_back(half);
            halves_of_[to].push_back(half + 1);
            halves_.push_back({static_cast<std::uint32_t>(to), 1});
            halves_.push_back({static_cast<std::uint32_t>(from), 0});
        }
        unused_ = halves_;
    }

    /// Counts the paths from the set to `host`, up to `most`, and adds `host` to the set.
    std::uint32_t count(std::uint32_t host, std::uint32_t most) {
        std::uint32_t paths = 0;
        while (paths < most && add_path(host)) ++paths;
        for (const std::uint32_t half : used_) {
            halves_[half] = unused_[half];
            halves_[half ^ 1] = unused_[half ^ 1];
        }
        used_.clear();
        add(host);
        return paths;
    }

    void add(std::uint32_t host) { within_[host] = true; }

    /// Number of vertices that searches have met.
    std::uint64_t steps() const { return steps_; }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// One direction of a cable; the opposite direction has the number ^ 1.
    struct Half {
        std::uint32_t to;
        std::int32_t free;  ///< number of further paths that may use this direction
    };

    /// Searches backwards from `host`; the first path found is a shortest one (Edmonds and Karp 1972).
    bool add_path(std::uint32_t host) {
        queue_.assign(1, host);
        std::uint32_t start = none;
        for (std::size_t i = 0; i < queue_.size() && start == none; ++i) {
            for (const std::uint32_t half : halves_of_[queue_[i]]) {
                const std::uint32_t before = halves_[half].to;
                if (halves_[half ^ 1].free == 0 || next_[before] != none || before == host) continue;
                next_[before] = half ^ 1;
                queue_.push_back(before);
                if (!within_[before]) continue;
                start = before;
                break;
            }
        }
        for (std::uint32_t at = start; at != none && at != host;) {
            const std::uint32_t half = next_[at];
            --halves_[half].free;
            ++halves_[half ^ 1].free;
            used_.push_back(half);
            at = halves_[half].to;
        }
        for (const std::uint32_t vertex : queue_) next_[vertex] = none;
        steps_ += queue_.size();
        return start != none;
    }

    std::vector<Half> halves_, unused_;
    std::vector<std::vector<std::uint32_t>> halves_of_;
    std::vector<bool> within_;
    std::vector<std::uint32_t> next_, queue_, used_;
    std::uint64_t steps_ = 0;
};

/// Returns true if hosts stand on both sides of some cable that is the only one between them. Links have no direction.
/// Every other link closes a cycle with links of a spanning tree, none of which is a bridge: these are joined.
bool has_bridge(const Network& network) {
    const RootedTree tree(network);
    std::vector<std::uint32_t> place(network.vertices()), top(network.vertices()), hosts(network.vertices(), 0);
    for (std::uint32_t i = 0; i < tree.order.size(); ++i) place[tree.order[i]] = i;
    std::iota(top.begin(), top.end(), 0U);
    const auto top_of = [&](std::uint32_t vertex) {
        while (top[vertex] != vertex) vertex = top[vertex] = top[top[vertex]];
        return vertex;
    };
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
        while ((a = top_of(a)) != (b = top_of(b))) {
            if (place[a] < place[b]) std::swap(a, b);
            top[a] = tree.parents[a];
        }
    };
    for (const std::uint32_t vertex : tree.order)
        for (const Link& link : network.links(vertex))
            if (link.out > 1 || (tree.parents[vertex] != link.to && tree.parents[link.to] != vertex))
                join(vertex, link.to);
    for (std::size_t i = tree.order.size() - 1; i > 0; --i) {
        const std::uint32_t vertex = tree.order[i];
        if (vertex < network.hosts()) ++hosts[vertex];
        if (top[vertex] == vertex && hosts[vertex] > 0 && hosts[vertex] < network.hosts()) return true;
        hosts[tree.parents[vertex]] += hosts[vertex];
    }
    return false;
}

/// Returns true if there are hosts only, at most one cable between two of them, and no one-way cable.
bool is_simple(const Network& network) {
    if (network.vertices() > network.hosts() || network.one_way()) return false;
    for (std::uint32_t host = 0; host < network.hosts(); ++host)
        for (const Link& link : network.links(host))
            if (link.out > 1) return false;
    return true;
}

}  // namespace

std::optional<std::uint32_t> edge_connectivity(const Topology& topology, const Network& network, bool hosts_alike,
                                               std::uint32_t diameter) {
    if (topology.hosts < 2) return 0;
    std::size_t least = boost::out_degree(0, topology.graph);
    for (std::uint32_t host = 0; host < topology.hosts; ++host)
        least = std::min({least, boost::out_degree(host, topology.graph), boost::in_degree(host, topology.graph)});
    auto result = static_cast<std::uint32_t>(least);
    if (hosts_alike || (diameter <= 2 && is_simple(network))) return result;

    if (result <= 1) return result;
    if (result == 2 && !network.one_way()) return has_bridge(network) ? 1 : 2;

    for (const bool reversed : {false, true}) {
        if (reversed && !topology.directed()) break;
        DisjointPaths paths(topology, reversed);
        paths.add(0);
        // A minimum cut splits the hosts: it separates the first host that is not on host 0's side from all before it.
        for (std::uint32_t host = 1; host < topology.hosts && result > 1; ++host) {
            result = paths.count(host, result);
            if (paths.steps() > most_flow_steps) return std::nullopt;
        }
    }
    return result;
}

}  // namespace syncline
