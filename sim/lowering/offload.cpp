#include "sim/lowering/offload.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace syncline {

namespace {

/// Returns the largest number of ranks on a node that has a rank of this stage.
std::uint32_t ranks_on_node(const Lowered& training, std::uint32_t stage) {
    std::map<std::uint32_t, std::uint32_t> ranks;
    for (const Place& place : training.places) ++ranks[place.node];
    const std::uint32_t stage_ranks = training.arrangement.stage_ranks;
    std::uint32_t most = 1;
    for (std::uint32_t rank = stage * stage_ranks; rank < (stage + 1) * stage_ranks; ++rank)
        most = std::max(most, ranks[training.places[rank].node]);
    return most;
}

}  // namespace

bool gives_host_bandwidths(const Cluster& cluster) {
    return std::isfinite(cluster.device.host_link_Bps) && std::isfinite(cluster.host.memory_Bps);
}

double host_memory_share(const Lowered& training, std::uint32_t stage) {
    return training.cluster.host.memory_Bps / ranks_on_node(training, stage);
}

double host_copy_rate(const Lowered& training, std::uint32_t stage) {
    return std::min(training.cluster.device.host_link_Bps, host_memory_share(training, stage));
}

std::vector<OffloadedGradients> offloaded_gradients(const Lowered& training, std::uint32_t stage) {
    std::vector<OffloadedGradients> copies;
    const Arrangement& arrangement = training.arrangement;
    const double widening = std::max(1.0, training.model.precision.accumulation / gradient_element(training.model));
    for (std::uint32_t b = 0; b < training.buckets.size(); ++b) {
        const Bucket& bucket = training.buckets[b];
        if (bucket.stage != stage) continue;
        const bool divided = training.plan.parallelism.sharding != Sharding::none;
        const std::uint64_t bytes = divided ? bucket.shard_bytes() : bucket.bytes;
        copies.push_back({bucket.layers.back(), true, b, widening * static_cast<double>(bytes)});
    }
    for (std::uint32_t i = 0; i < arrangement.layers.size(); ++i) {
        const PlacedLayer& layer = arrangement.layers[i];
        if (arrangement.stage_of(layer.virtual_stage) != stage) continue;
        double alone = layer.replicas.size == 1 ? static_cast<double>(layer.bytes) : 0;
        if (layer.experts && layer.experts->replicas.size == 1) alone += static_cast<double>(layer.experts->bytes);
        if (alone > 0) copies.push_back({i, false, 0, widening * alone});
    }
    std::stable_sort(copies.begin(), copies.end(), [](const auto& a, const auto& b) { return a.layer > b.layer; });
    return copies;
}

}  // namespace syncline
