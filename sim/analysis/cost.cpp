#include "sim/analysis/cost.hpp"

#include <set>

namespace syncline {

std::optional<double> Cost::per_million_samples(std::int64_t samples) const {
    return cost && samples > 0 ? std::optional(*cost / static_cast<double>(samples) * 1e6) : std::nullopt;
}

Cost cost_of(const Cluster& cluster, const TaskGraph& graph, std::int64_t ranks, double seconds) {
    std::set<std::uint32_t> nodes;
    for (const Process& process : graph.processes()) nodes.insert(process.place.node);
    return cost_of(cluster, nodes, ranks, seconds);
}

Cost cost_of(const Cluster& cluster, const std::set<std::uint32_t>& nodes, std::int64_t ranks, double seconds) {
    if (cluster.others.empty()) return cost_of(cluster, static_cast<std::int64_t>(nodes.size()), ranks, seconds);
    Cost result;
    result.nodes = static_cast<std::int64_t>(nodes.size());
    result.device_time_s = static_cast<double>(ranks) * seconds;
    double per_hour = 0;
    for (const std::uint32_t node : nodes) {
        const std::optional<double>& price = cluster.price_of(cluster.kind_of(node));
        if (!price) return result;
        per_hour += *price;
    }
    result.cost = per_hour * seconds / 3600;
    return result;
}

Cost cost_of(const Cluster& cluster, std::int64_t nodes, std::int64_t ranks, double seconds) {
    Cost result;
    result.nodes = nodes;
    result.device_time_s = static_cast<double>(ranks) * seconds;
    if (const std::optional<double> price = cluster.node.price_per_hour)
        result.cost = static_cast<double>(result.nodes) * *price * seconds / 3600;
    return result;
}

std::optional<WholeRun> whole_run(const Lowered& training, double iteration_s, const Cost& cost,
                                  const std::optional<Energy>& energy) {
    const auto batch = static_cast<double>(training.plan.used_batch());
    const std::optional<double> iterations = run_iterations(training.plan.run, training.model, batch);
    if (!iterations) return std::nullopt;
    WholeRun run{*iterations, *iterations * iteration_s, {}, {}};
    if (cost.cost) run.cost = *iterations * *cost.cost;
    if (energy) run.energy_J = *iterations * energy->total_J();
    run.failing = failing_run(training, cost.nodes, *iterations, iteration_s);
    return run;
}

}  // namespace syncline
