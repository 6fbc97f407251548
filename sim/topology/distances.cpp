#include "sim/topology/distances.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace syncline {

namespace {

constexpr std::uint32_t nowhere = ~std::uint32_t{0};

class Search {
public:
    explicit Search(const Network& network) : network_(network), hops_(network.vertices(), nowhere) {}

    /// Ends as soon as it has found all hosts: in dense graphs that is long before it has visited all links.
    void run(std::uint32_t start) {
        std::fill(hops_.begin(), hops_.end(), nowhere);
        queue_.clear();
        found_ = sum = farthest = 0;
        reach(start, 0);
        for (std::size_t next = 0; next < queue_.size() && found_ < network_.hosts(); ++next) {
            const std::uint32_t vertex = queue_[next];
            for (const Link& link : network_.links(vertex))
                if (link.out > 0 && hops_[link.to] == nowhere) reach(link.to, hops_[vertex] + 1);
        }
        if (found_ < network_.hosts())
            throw std::logic_error("cannot measure distances: the topology is not connected");
    }

    std::uint64_t sum = 0, farthest = 0;  ///< over all hosts

private:
    void reach(std::uint32_t vertex, std::uint32_t hops) {
        hops_[vertex] = hops;
        queue_.push_back(vertex);
        if (vertex >= network_.hosts()) return;
        ++found_;
        sum += hops;
        farthest = hops;  // breadth-first: no host before was farther
    }

    const Network& network_;
    std::vector<std::uint32_t> hops_, queue_;
    std::uint64_t found_ = 0;
};

}  // namespace

Distances measure_distances(const Network& network, bool hosts_alike) {
    const std::uint32_t hosts = network.hosts();
    if (hosts < 2) return {};
    // A host whose only neighbour reaches it and is reached by it sees all others one hop farther away than that
    // neighbour does, so a switch with forty hosts needs one search.
    std::vector<std::uint32_t> lodgers(network.vertices(), 0), lodged_at(hosts, nowhere);
    for (std::uint32_t host = 0; host < hosts; ++host) {
        const auto links = network.links(host);
        if (links.size() != 1 || links[0].to < hosts) continue;
        lodged_at[host] = links[0].to;
        ++lodgers[links[0].to];
    }
    Search search(network);
    std::uint64_t sum = 0, farthest = 0;
    for (std::uint32_t start = 0; start < network.vertices(); ++start) {
        const bool alone = start < hosts && lodged_at[start] == nowhere;
        if (!alone && lodgers[start] == 0) continue;
        search.run(start);
        const std::uint64_t seen_by = alone ? 1 : lodgers[start], detour = alone ? 0 : 1;
        // The distance from a lodger to itself is 0, not one hop to its switch and one back.
        sum += seen_by * (search.sum + detour * hosts - 2 * detour);
        farthest = std::max(farthest, search.farthest + detour);
        if (hosts_alike) {
            sum *= hosts;
            break;
        }
    }
    const double pairs = static_cast<double>(hosts) * (hosts - 1.0);
    return {static_cast<std::uint32_t>(farthest), static_cast<double>(sum) / pairs};
}

}  // namespace syncline
