#pragma once

#include "sim/collective/algorithm.hpp"

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

class Gossip : public CollectiveAlgorithm {
public:
    Gossip(const Topology& overlay, bool one_peer);
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::uint32_t period() const override { return period_; }
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return one_peer_ ? "α + Sβ + Sγ" : "α + dSβ + dSγ"; }

private:
    struct Peer {
        std::uint32_t rank = 0;
        std::uint32_t round = 0;  ///< within the period
    };

    std::vector<std::vector<Peer>> to_, from_;  ///< by rank
    bool one_peer_;
    std::uint32_t period_ = 1;
};

}  // namespace syncline
