#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/topology/cut.hpp"
#include "sim/topology/measures.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t most_refined = 10'000;  ///< in vertices: a pass takes quadratic time

/// A pass moves every vertex once, each time the one that reduces the cut most or increases it least, with hosts taken
/// alternately from the two halves, and keeps the best halves that it meets.
class Refinement {
public:
    Refinement(const Network& network, Sides& sides) : network_(network), sides_(sides) {}

    /// Runs one pass and returns true if it has found a smaller cut.
    bool pass() {
        const std::uint32_t vertices = network_.vertices();
        gains_.assign(vertices, 0);
        moved_.assign(vertices, false);
        surplus_ = 0;
        for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
            if (vertex < network_.hosts()) surplus_ += sides_[vertex] ? 1 : -1;
            for (const Link& link : network_.links(vertex))
                gains_[vertex] += sides_[vertex] == sides_[link.to] ? -weight(link) : weight(link);
        }
        double gain = 0, best_gain = 0;
        std::vector<std::uint32_t> moves;
        std::size_t best_moves = 0;
        for (std::uint32_t vertex; (vertex = next()) < vertices;) {
            gain += gains_[vertex];
            move(vertex);
            moves.push_back(vertex);
            // Sums of bandwidths are rounded, so a gain must exceed the rounding error.
            if (std::abs(surplus_) > 1 || gain <= best_gain * (1 + 1e-9) + 1e-9) continue;
            best_gain = gain;
            best_moves = moves.size();
        }
        for (; moves.size() > best_moves; moves.pop_back()) sides_[moves.back()].flip();
        return best_moves > 0;
    }

private:
    static double weight(const Link& link) { return (link.out + link.in) / 2; }

    std::uint32_t next() const {
        std::uint32_t best = network_.vertices();
        for (std::uint32_t vertex = 0; vertex < network_.vertices(); ++vertex) {
            if (moved_[vertex]) continue;
            if (vertex < network_.hosts() && (sides_[vertex] ? surplus_ < 0 : surplus_ > 0)) continue;
            if (best == network_.vertices() || gains_[vertex] > gains_[best]) best = vertex;
        }
        return best;
    }

    void move(std::uint32_t vertex) {
        if (vertex < network_.hosts()) surplus_ += sides_[vertex] ? -2 : 2;
        sides_[vertex].flip();
        moved_[vertex] = true;
        for (const Link& link : network_.links(vertex))
            gains_[link.to] += (sides_[vertex] == sides_[link.to] ? -2 : 2) * weight(link);
    }

    const Network& network_;
    Sides& sides_;
    std::vector<double> gains_;
    std::vector<bool> moved_;
    std::int64_t surplus_ = 0;  ///< excess of hosts in the first half over the second
};

}  // namespace

double least_of_some_halves(const Network& network) {
    const std::uint32_t hosts = network.hosts();
    std::vector<std::uint32_t> in_order(hosts);
    std::iota(in_order.begin(), in_order.end(), 0);
    std::vector<std::uint32_t> by_parity = in_order;
    std::stable_partition(by_parity.begin(), by_parity.end(), [](std::uint32_t host) { return host % 2 == 0; });

    double least = std::numeric_limits<double>::infinity();
    for (const auto& order : {in_order, by_parity, spectral_order(network)}) {
        Sides sides(network.vertices(), false);
        for (std::uint32_t i = 0; i < hosts / 2; ++i) sides[order[i]] = true;
        least = std::min(least, least_cut(network, sides));
        if (network.vertices() > most_refined) continue;
        Refinement refinement(network, sides);
        for (int passes = 0; passes < 10 && refinement.pass(); ++passes) continue;
        least = std::min(least, least_cut(network, sides));
    }
    return least;
}

}  // namespace syncline
