#include "sim/topology/router.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace syncline {

namespace {

/// What all searches together may hold, in vertices: 400 MB. With more, the oldest work is thrown away and done again.
constexpr std::size_t most_kept = std::size_t{1} << 24;

/// splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014): every bit of the result depends on every bit of `x`.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace

Router::Router(const Topology& topology, const Routing& routing)
    : vertices_(topology.vertices()), routing_(routing), out_(vertices_), in_(vertices_) {
    const Graph& graph = topology.graph;
    for (auto [edge, end] = boost::edges(graph); edge != end; ++edge) {
        const auto number = static_cast<std::uint32_t>(hops_.size());
        const auto from = static_cast<std::uint32_t>(boost::source(*edge, graph));
        const auto to = static_cast<std::uint32_t>(boost::target(*edge, graph));
        hops_.push_back({from, to, graph[*edge].cable, graph[*edge].wire});
        out_[from].push_back(number);
        in_[to].push_back(number);
        unit_s_ = std::max(unit_s_, graph[*edge].wire.latency_s * 0x1p-40);  // 2^23 hops fit
    }
}

Router::Distance Router::length(const Hop& hop) const {
    const auto latency = static_cast<std::uint64_t>(std::llround(hop.wire.latency_s / unit_s_));
    return routing_.shortest == Routing::Shortest::latency ? Distance{latency, 1} : Distance{1, latency};
}

Router::Search& Router::search(std::uint32_t to) {
    const auto found = searches_.find(to);
    if (found != searches_.end()) return found->second;
    if ((searches_.size() + 1) * vertices_ > most_kept) searches_.clear();
    Search& search = searches_[to];
    search.distance.assign(vertices_, unreached);
    search.distance[to] = {};
    search.open.push({{}, to});
    return search;
}

void Router::extend(Search& search, std::uint32_t from) const {
    while (!search.open.empty() && search.distance[from] >= search.frontier) {
        const auto [distance, vertex] = search.open.top();
        search.open.pop();
        search.frontier = {distance.major, distance.minor + 1};
        if (distance != search.distance[vertex]) continue;  // a shorter way was found since
        for (const std::uint32_t number : in_[vertex]) {
            const Hop& hop = hops_[number];
            const Distance step = length(hop);
            const Distance reached{distance.major + step.major, distance.minor + step.minor};
            if (reached >= search.distance[hop.from]) continue;
            search.distance[hop.from] = reached;
            search.open.push({reached, hop.from});
        }
    }
}

void Router::route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path) {
    std::uint32_t at = from, gate = to;
    if (at != to && out_[at].size() == 1) {
        path.push_back(out_[at].front());
        at = hops_[path.back()].to;
    }
    const bool gated = at != to && in_[to].size() == 1;
    if (gated) gate = hops_[in_[to].front()].from;
    if (at != gate) {
        Search& way = search(gate);
        extend(way, at);
        if (way.distance[at] == unreached) throw std::logic_error(fmt::format("no way from {} to {}", from, to));
        const std::uint64_t pair = mixed((std::uint64_t{from} << 32) | to);
        while (at != gate) {
            std::uint32_t equal = 0, chosen = 0;
            for (const std::uint32_t number : out_[at]) {
                const Hop& hop = hops_[number];
                const Distance rest = way.distance[hop.to], step = length(hop);
                if (rest == unreached || Distance{rest.major + step.major, rest.minor + step.minor} != way.distance[at])
                    continue;
                // Of `equal` hops each is chosen by one in `equal` of the hashes, without a list of them.
                ++equal;
                if (equal == 1 || (routing_.spread && mixed(pair ^ (std::uint64_t{at} << 32 | equal)) % equal == 0))
                    chosen = number;
            }
            path.push_back(chosen);
            at = hops_[chosen].to;
        }
    }
    if (gated) path.push_back(in_[to].front());
}

}  // namespace syncline
