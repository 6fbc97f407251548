#include "sim/lowering/sharding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
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

Grouping expert_shards_of(const Plan& plan, const Layer& layer, const Grouping& parts, const Grouping& shards,
                          const Grouping& group) {
    const Grouping alike = copies_of(parts, group);
    if (plan.parallelism.sharding == Sharding::none || !plan.parallelism.shard_ranks) return alike;
    // Ranks that follow each other: those among which a layer's state is divided, and those that have every expert
    // once.
    const std::uint32_t together = shards.size * shards.stride, once = alike.stride;
    if (together % once == 0) return {together / once, alike.stride};
    if (once % together == 0) return {1, alike.stride};
    throw ParallelismError(
        "sharding.within",
        fmt::format("layer '{}': {} neighbours, which divide the state, and {}, which have every expert once, do not "
                    "divide each other",
                    layer.name, together, once),
        fmt::format("write a multiple of {}", once / std::gcd(once, shards.stride)));
}

void check_nodes(const Plan& plan, const Arrangement& arrangement, const std::vector<Place>& places) {
    const Parallelism& parallelism = plan.parallelism;
    if (parallelism.sharding == Sharding::none || parallelism.shard_ranks != ranks_of_node) return;
    std::set<Grouping> seen;
    for (const PlacedLayer& layer : arrangement.layers) {
        const auto check = [&](const Grouping& shards) {
            if (!seen.insert(shards).second) return;
            for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
                const std::uint32_t index = rank % arrangement.stage_ranks, first = rank - index + shards.first(index);
                if (places[rank].node != places[first].node)
                    throw ParallelismError(
                        "sharding.within",
                        fmt::format("ranks {} and {}, which would divide their state, are on different nodes", first,
                                    rank),
                        "write `placement: packed`, or the number of ranks of a group in place of `node`");
            }
        };
        check(layer.shards);
        if (layer.experts) check(layer.experts->shards);
    }
}

}  // namespace syncline
