#include "sim/platform/node_rings.hpp"

#include <algorithm>
#include <utility>

namespace syncline {

namespace {

using Ring = std::vector<std::uint32_t>;

/// Number of links between vertices 0 … n-1, by direction.
class Capacities {
public:
    explicit Capacities(std::uint32_t n) : n_(n), links_(std::size_t{n} * n) {}

    std::uint32_t size() const { return n_; }
    std::uint32_t& at(std::uint32_t from, std::uint32_t to) { return links_[std::size_t{from} * n_ + to]; }
    std::uint32_t at(std::uint32_t from, std::uint32_t to) const { return links_[std::size_t{from} * n_ + to]; }

    /// Returns the number of links that leave the vertex with the fewest.
    std::uint32_t minimum_degree() const {
        std::uint32_t least = ~std::uint32_t{0};
        for (std::uint32_t from = 0; from < n_; ++from) {
            std::uint32_t degree = 0;
            for (std::uint32_t to = 0; to < n_; ++to) degree += at(from, to);
            least = std::min(least, degree);
        }
        return least;
    }

    /// Returns the number of links between every two vertices, or 0 if the numbers differ.
    std::uint32_t complete() const {
        const std::uint32_t links = at(0, 1);
        for (std::uint32_t from = 0; from < n_; ++from) {
            for (std::uint32_t to = 0; to < n_; ++to) {
                if (from != to && at(from, to) != links) return 0;
            }
        }
        return links;
    }

private:
    std::uint32_t n_;
    std::vector<std::uint32_t> links_;
};

/// Search for as many cycles as possible that share no link. With `both_ways` a cycle takes its links in both
/// directions, and is visited in one of them only.
class CycleSearch {
public:
    CycleSearch(Capacities capacities, bool both_ways, std::uint32_t most)
        : left_(std::move(capacities)), both_ways_(both_ways), most_(most) {}

    std::vector<Ring> run() {
        if (most_ > 0) next_cycle();
        return std::move(best_);
    }

private:
    /// Steps suffice to prove that the subsets of a DGX-1's devices have no further cycle.
    static constexpr std::uint64_t most_steps = 200'000;

    bool done() const { return best_.size() >= most_ || steps_ >= most_steps; }

    /// Returns the number of cycles for which every vertex has links left.
    std::uint32_t room() const { return left_.minimum_degree() / (both_ways_ ? 2 : 1); }

    void next_cycle() {
        if (found_.size() > best_.size()) best_ = found_;
        if (done() || found_.size() + room() <= best_.size()) return;
        Ring path{0};
        std::vector<char> visited(left_.size());
        visited[0] = 1;
        extend(path, visited);
    }

    void take(const Ring& cycle, bool back) {
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            const std::uint32_t from = cycle[i], to = cycle[(i + 1) % cycle.size()];
            back ? ++left_.at(from, to) : --left_.at(from, to);
            if (both_ways_) back ? ++left_.at(to, from) : --left_.at(to, from);
        }
    }

    void extend(Ring& path, std::vector<char>& visited) {
        if (++steps_ >= most_steps) return;
        const std::uint32_t n = left_.size();
        if (path.size() == n) {
            if (left_.at(path.back(), 0) == 0) return;
            if (both_ways_ && path[1] > path.back()) return;  // the same cycle as its reverse
            // A set of cycles is found in one order only.
            if (!found_.empty() && path < found_.back()) return;
            found_.push_back(path);
            take(path, false);
            next_cycle();
            take(found_.back(), true);
            found_.pop_back();
            return;
        }
        for (std::uint32_t to = 1; to < n && !done(); ++to) {
            if (visited[to] || left_.at(path.back(), to) == 0) continue;
            visited[to] = 1;
            path.push_back(to);
            extend(path, visited);
            path.pop_back();
            visited[to] = 0;
        }
    }

    Capacities left_;
    const bool both_ways_;
    const std::uint32_t most_;
    std::uint64_t steps_ = 0;
    std::vector<Ring> found_, best_;
};

/// Returns ⌊(n-1)/2⌋ edge-disjoint Hamiltonian cycles of the complete graph: a zigzag over a regular polygon with an
/// even number p of vertices, closed by a vertex in its centre, and the rotations of this cycle. If n is even, the last
/// vertex replaces the edge that is a diameter of the polygon; each rotation has another.
std::vector<Ring> walecki(std::uint32_t n) {
    const std::uint32_t p = n % 2 == 1 ? n - 1 : n - 2, centre = p, last = p + 1;
    std::vector<Ring> cycles;
    for (std::uint32_t turn = 0; turn < p / 2; ++turn) {
        Ring cycle{centre};
        for (std::uint32_t i = 0; i < p; ++i) {
            const std::uint32_t step = i % 2 == 1 ? (i + 1) / 2 : p - i / 2, vertex = (turn + step) % p;
            const bool diameter = i > 0 && (vertex + p / 2) % p == cycle.back();
            if (n % 2 == 0 && diameter) cycle.push_back(last);
            cycle.push_back(vertex);
        }
        std::rotate(cycle.begin(), std::find(cycle.begin(), cycle.end(), 0U), cycle.end());
        cycles.push_back(std::move(cycle));
    }
    return cycles;
}

Capacities capacities(const NodeDesign& node, std::span<const std::uint32_t> devices) {
    const auto n = static_cast<std::uint32_t>(devices.size());
    Capacities result(n);
    for (std::uint32_t from = 0; from < n; ++from) {
        for (std::uint32_t to = 0; to < n; ++to) result.at(from, to) = direct_links(node, devices[from], devices[to]);
    }
    return result;
}

/// Returns up to `most` rings of vertices that share no link in the same direction.
std::vector<Ring> disjoint_rings(Capacities links, std::uint32_t most) {
    const std::uint32_t n = links.size();
    if (n == 2) return std::vector<Ring>(std::min(most, links.at(0, 1)), {0, 1});
    const std::uint32_t wanted = most / 2 + most % 2;
    std::vector<Ring> cycles = CycleSearch(links, true, wanted).run();
    if (const std::uint32_t parallel = links.complete(); cycles.size() < wanted && parallel > 0) {
        const std::vector<Ring> once = walecki(n);
        if (cycles.size() < once.size() * parallel) {
            cycles.clear();
            for (std::uint32_t copy = 0; copy < parallel; ++copy) cycles.insert(cycles.end(), once.begin(), once.end());
        }
    }
    std::vector<Ring> rings;
    for (Ring& cycle : cycles) {
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t a = cycle[i], b = cycle[(i + 1) % n];
            --links.at(a, b);
            --links.at(b, a);
        }
        rings.push_back(cycle);
        std::reverse(cycle.begin() + 1, cycle.end());
        rings.push_back(std::move(cycle));
    }
    if (rings.size() < most) {
        const auto more = static_cast<std::uint32_t>(most - rings.size());
        for (Ring& ring : CycleSearch(links, false, more).run()) rings.push_back(std::move(ring));
    }
    rings.resize(std::min<std::size_t>(rings.size(), most));
    return rings;
}

}  // namespace

std::uint32_t direct_links(const NodeDesign& node, std::uint32_t from, std::uint32_t to) {
    const auto devices = static_cast<std::uint32_t>(node.devices);
    if (from == to) return 0;
    switch (node.links) {
        case NodeLinks::all_to_all:
            return 1;
        case NodeLinks::ring:
            return (from + 1) % devices == to || (to + 1) % devices == from ? 1 : 0;
        case NodeLinks::mesh:
            for (const DevicePair& pair : node.pairs) {
                if (std::minmax(pair.a, pair.b) == std::minmax(from, to)) return pair.links;
            }
            return 0;
        case NodeLinks::crossbar:
        case NodeLinks::pcie:
            return 0;
    }
    return 0;
}

std::vector<std::vector<std::uint32_t>> node_rings(const NodeDesign& node, std::span<const std::uint32_t> devices,
                                                   std::uint32_t most) {
    const Ring plain(devices.begin(), devices.end());
    if (plain.size() < 2 || node.links == NodeLinks::pcie) return {plain};
    if (node.links == NodeLinks::crossbar) return std::vector<Ring>(most, plain);
    std::vector<Ring> rings = disjoint_rings(capacities(node, devices), most);
    for (Ring& ring : rings) {
        for (std::uint32_t& vertex : ring) vertex = plain[vertex];
    }
    if (rings.empty()) rings.push_back(plain);
    return rings;
}

}  // namespace syncline
