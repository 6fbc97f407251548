#include "sim/analysis/cost.hpp"

#include <set>

namespace syncline {

std::optional<double> Cost::per_million_samples(std::int64_t samples) const {
    return cost ? std::optional(*cost / static_cast<double>(samples) * 1e6) : std::nullopt;
}

Cost cost_of(const Cluster& cluster, const TaskGraph& graph, std::int64_t ranks, double seconds) {
    std::set<std::uint32_t> nodes;
    for (const Process& process : graph.processes()) nodes.insert(process.place.node);
    Cost result;
    result.nodes = static_cast<std::int64_t>(nodes.size());
    result.device_time_s = static_cast<double>(ranks) * seconds;
    if (const std::optional<double> price = cluster.node.price_per_hour)
        result.cost = static_cast<double>(result.nodes) * *price * seconds / 3600;
    return result;
}

}  // namespace syncline
