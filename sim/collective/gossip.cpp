#include <algorithm>

#include "sim/collective/factories.hpp"
#include "sim/collective/overlay.hpp"

/// Neighbour averaging: every rank sends its whole buffer to its neighbours in an overlay, and averages its own with
/// the buffers that it receives. Directed: to out-neighbours, from in-neighbours.
///
/// With all neighbours in one round, a rank sends S bytes to each of them: 2S on a ring, (N-1)·S at the centre of a
/// star, ⌈lg N⌉·S on the directed exponential graph. Time α + d·S·β + d·S·γ with the maximum number d of neighbours:
/// every message has at least a share 1/d of its links, and the links of the rank with d neighbours are saturated until
/// the end. There is no closed form if only senders have d neighbours: the rank that is last to receive may not be the
/// one that reduces most.
///
/// With one peer per round, the overlay is decomposed into rounds in which no rank sends or receives more than once: an
/// undirected overlay into matchings, so that both partners exchange, a directed one into (partial) permutations. Its
/// edges are coloured greedily, in order of their distance (to - from) mod N and then of the rank; round t uses colour
/// t modulo the number of colours, and a rank without an edge of that colour idles. The directed exponential graph thus
/// gives one-peer exponential, i to i + 2^k with k = t mod ⌈lg N⌉, and an even ring alternates between both neighbours.
/// A period may be longer than the number of a rank's neighbours, but less than twice as long. Time α + S·β + S·γ.
///
/// Sources: X. Lian et al., "Can decentralized algorithms outperform centralized algorithms?", NeurIPS 2017; M. Assran
/// et al., "Stochastic gradient push", ICML 2019, and B. Ying et al., "Exponential graph is provably efficient for
/// decentralized deep training", NeurIPS 2021, for one-peer exponential. The averaging weights are left out: they cost
/// nothing.
namespace syncline {

namespace {

struct Edge {
    std::uint32_t distance = 0, from = 0, to = 0;
};

/// Returns the edges by distance, then by rank; each edge of an undirected overlay once.
std::vector<Edge> ordered_edges(const Topology& overlay) {
    const auto adjacent = neighbours(overlay);
    const std::uint32_t ranks = overlay.hosts;
    const bool directed = overlay.directed();
    std::vector<Edge> edges;
    for (std::uint32_t from = 0; from < ranks; ++from) {
        for (const std::uint32_t to : adjacent[from]) {
            if (directed || from < to) edges.push_back({(to + ranks - from) % ranks, from, to});
        }
    }
    std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.distance < b.distance; });
    return edges;
}

using RoundSet = std::vector<bool>;

bool contains(const RoundSet& set, std::uint32_t round) {
    return round < set.size() && set[round];
}

void insert(RoundSet& set, std::uint32_t round) {
    if (round >= set.size()) set.resize(round + 1, false);
    set[round] = true;
}

class Gossip : public CollectiveAlgorithm {
public:
    Gossip(const Topology& overlay, bool one_peer) : to_(overlay.hosts), from_(overlay.hosts), one_peer_(one_peer) {
        std::vector<RoundSet> sends(overlay.hosts), receives(overlay.hosts);
        const bool directed = overlay.directed();
        for (const Edge& edge : ordered_edges(overlay)) {
            std::uint32_t round = 0;
            while (one_peer && (contains(sends[edge.from], round) || contains(receives[edge.to], round))) ++round;
            period_ = std::max(period_, round + 1);
            const auto connect = [&](std::uint32_t from, std::uint32_t to) {
                insert(sends[from], round);
                insert(receives[to], round);
                to_[from].push_back({to, round});
                from_[to].push_back({from, round});
            };
            connect(edge.from, edge.to);
            if (!directed) connect(edge.to, edge.from);
        }
    }

    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t round) const override {
        const auto now = [&](const std::vector<Peer>& peers) {
            std::vector<Message> messages;
            for (const Peer& peer : peers) {
                if (peer.round == round % period_) messages.push_back({peer.rank, 0});
            }
            return messages;
        };
        Step step{now(to_[rank]), now(from_[rank]), true};
        Program program{{bytes, 1}, {}};
        if (!step.sends.empty() || !step.receives.empty()) program.steps.push_back(std::move(step));
        return program;
    }

    std::uint32_t period() const override { return period_; }
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (ranks == 1) return 0;
        const auto most = [](const std::vector<std::vector<Peer>>& peers) {
            std::size_t largest = 0;
            for (const auto& of_rank : peers) largest = std::max(largest, of_rank.size());
            return largest;
        };
        if (!one_peer_ && most(to_) > most(from_)) return {};
        const double degree = one_peer_ ? 1 : static_cast<double>(most(from_));
        return message.alpha_s + degree * static_cast<double>(bytes) * (message.beta_s_per_B + message.gamma_s_per_B);
    }

    std::string formula(bool) const override { return one_peer_ ? "α + Sβ + Sγ" : "α + dSβ + dSγ"; }

private:
    struct Peer {
        std::uint32_t rank = 0;
        std::uint32_t round = 0;  ///< within the period
    };

    std::vector<std::vector<Peer>> to_, from_;  ///< by rank
    bool one_peer_;
    std::uint32_t period_ = 1;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::gossip(const AlgorithmSpec& spec, std::uint32_t ranks) {
    if (spec.peers == Peers::inner_outer) return inner_outer_gossip(spec, ranks);
    if (spec.peers == Peers::machine) return machine_gossip(spec, ranks);
    return std::make_shared<Gossip>(make_overlay(overlay_or(spec, Shape::exponential, true), ranks),
                                    spec.peers == Peers::one);
}

}  // namespace syncline
