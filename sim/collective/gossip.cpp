#include "sim/collective/gossip.hpp"

#include <algorithm>

#include "sim/collective/overlay.hpp"

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

}  // namespace

Gossip::Gossip(const Topology& overlay, bool one_peer) : to_(overlay.hosts), from_(overlay.hosts), one_peer_(one_peer) {
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

Program Gossip::program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t round) const {
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

std::optional<double> Gossip::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
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

}  // namespace syncline
