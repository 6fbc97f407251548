#pragma once

#include "sim/analysis/experiment.hpp"
#include "sim/plan/collective_plan.hpp"

namespace syncline {

/// Runs one all-reduce with the algorithm of this name; `servers` applies to a parameter server.
inline CollectiveResult allreduce(const Cluster& cluster, std::uint32_t ranks, std::uint32_t servers,
                                  const std::string& algorithm, std::uint64_t bytes) {
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.algorithm.name = algorithm;
    plan.servers = servers;
    plan.bytes = bytes;
    return simulate_collective(cluster, plan);
}

}  // namespace syncline
