#include "sim/training/sharding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace syncline {

Grouping shards_of(const Cluster& cluster, const Plan& plan, const Layer& layer, const Grouping& replicas) {
    const Parallelism& parallelism = plan.parallelism;
    if (parallelism.sharding == Sharding::none || !parallelism.shard_ranks || replicas.size == 1) return replicas;
    const bool of_node = *parallelism.shard_ranks == ranks_of_node;
    const std::int64_t wanted =
        of_node ? cluster.node.devices / static_cast<std::int64_t>(replicas.stride) : *parallelism.shard_ranks;
    if (wanted <= 1)
        throw ParallelismError(
            "sharding.within",
            fmt::format(
                "layer '{}': with {} devices per node and {} rows, no two ranks of a node have the same weights",
                layer.name, cluster.node.devices, replicas.stride),
            "write the number of ranks of a group in place of `node`, or shard among all: `sharding: parameters`");
    const std::uint32_t size = static_cast<std::uint32_t>(std::min<std::int64_t>(wanted, replicas.size));
    if (replicas.size % size != 0)
        throw ParallelismError(
            "sharding.within",
            fmt::format("layer '{}': {} ranks with the same weights cannot be divided into groups of {}", layer.name,
                        replicas.size, size),
            "write a number that divides them");
    return {size, replicas.stride};
}

void check_nodes(const Plan& plan, const Arrangement& arrangement, const std::vector<Place>& places) {
    const Parallelism& parallelism = plan.parallelism;
    if (parallelism.sharding == Sharding::none || parallelism.shard_ranks != ranks_of_node) return;
    std::set<Grouping> seen;
    for (const PlacedLayer& layer : arrangement.layers) {
        if (!seen.insert(layer.shards).second) continue;
        for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
            const std::uint32_t index = rank % arrangement.stage_ranks,
                                first = rank - index + layer.shards.first(index);
            if (places[rank].node != places[first].node)
                throw ParallelismError(
                    "sharding.within",
                    fmt::format("ranks {} and {}, which would divide their state, are on different nodes", first, rank),
                    "write `placement: packed`, or the number of ranks of a group in place of `node`");
        }
    }
}

}  // namespace syncline
