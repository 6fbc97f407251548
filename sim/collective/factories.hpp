#pragma once

#include "sim/collective/algorithm.hpp"

/// Makers of the algorithms, for use in this room only. Each is defined in the file of its algorithm, whose first
/// comment gives the source and the derivation of the time; the table in algorithm.cpp has all of them.
namespace syncline::algorithms {

/// Returns the algorithm for a group of `ranks`. Throws AlgorithmError if ranks, overlay and algorithm do not fit each
/// other; the table has checked which parameters the algorithm accepts.
using Factory = std::shared_ptr<const CollectiveAlgorithm>(const AlgorithmSpec& spec, std::uint32_t ranks);

Factory binomial_gather, binomial_scatter, binomial_tree, bruck_all_to_all, bruck_allgather, direct, dissemination,
    double_binary_tree, gossip, hierarchical, hierarchical_leaders, in_network, inner_outer_gossip, machine_gossip,
    msccl, nccl_tree, padded_ring, pairwise, pat, pipelined_tree, rabenseifner, recursive_doubling,
    recursive_doubling_allgather, recursive_halving, reduce_scatter_allgather, ring_allgather, ring_allreduce,
    ring_broadcast, ring_reduce_scatter, scatter_allgather, segmented_ring, spread_doubling;

}  // namespace syncline::algorithms

namespace syncline {

inline std::uint32_t contributors(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return spec.contributors == 0 ? ranks : spec.contributors;
}

inline std::uint32_t receivers(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return spec.receivers == 0 ? ranks : spec.receivers;
}

}  // namespace syncline
