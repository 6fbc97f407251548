#pragma once

#include <cstdint>
#include <memory>

#include "sim/iteration/exchange.hpp"
#include "sim/plan/placement.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/replay/replay.hpp"

/// Fabrics of one-device nodes whose links are all alike, and an exchange given by a test.
namespace syncline {

inline Cluster cluster_on(const TopologySpec& topology, std::int64_t nodes) {
    Cluster cluster;
    cluster.nodes = nodes;
    cluster.fabric.topology = topology;
    return cluster;
}

inline TopologySpec wired(Shape shape, double bandwidth_Bps, double latency_s) {
    TopologySpec spec;
    spec.shape = shape;
    spec.bandwidth_Bps = {bandwidth_Bps};
    spec.latency_s = {latency_s};
    return spec;
}

/// Replays `algorithm` once, without other tasks.
inline Timeline replay_alone(const Cluster& cluster, const std::shared_ptr<const CollectiveAlgorithm>& algorithm,
                             std::uint32_t ranks, std::uint64_t bytes, const RankPlacement& placement = {}) {
    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (const Place& place : place_ranks(cluster, placement, ranks)) workers.push_back(graph.add_process({place}));
    add_collectives(graph, workers, {{bytes, algorithm}}, {}, cluster);
    graph.seal();
    return replay_isolated(cluster, graph, {});
}

}  // namespace syncline
