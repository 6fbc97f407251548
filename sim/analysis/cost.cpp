#include "sim/analysis/cost.hpp"

#include <algorithm>
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

namespace {

/// Returns what the plan's curve says.
SamplesNeeded needed(const Lowered& training, const std::optional<double>& staleness) {
    const Plan& plan = training.plan;
    return samples_to_accuracy(plan.run.to_accuracy, plan.update_batch(),
                               staleness.value_or(static_cast<double>(plan.exchange_delay)));
}

}  // namespace

std::optional<WholeRun> whole_run(const Lowered& training, const Repeated& iteration) {
    const auto batch = static_cast<double>(training.plan.used_batch());
    RunLength length = training.plan.run;
    std::optional<double> to_accuracy;
    if (!length.to_accuracy.empty()) {
        to_accuracy = needed(training, iteration.staleness).samples;
        length.samples = to_accuracy.value_or(0);
    }
    const std::optional<double> iterations = run_iterations(length, training.model, batch);
    if (!iterations) return std::nullopt;
    const Cost& cost = iteration.cost;
    WholeRun run{*iterations, *iterations * iteration.iteration_s, {}, {}};
    run.samples_to_accuracy = to_accuracy;
    if (cost.cost) run.cost = *iterations * *cost.cost;
    Known known{.iteration = iteration.fewer};
    if (iteration.energy) {
        known.energy_J = iteration.energy->total_J();
        run.energy_J = *iterations * known.energy_J;
        auto wired = static_cast<std::uint32_t>(cost.nodes);
        for (const Place& place : training.places) wired = std::max(wired, place.node + 1);
        known.idle_W = idle_W(training.cluster, cost.nodes, wired);
    }
    run.failing = failing_run(training, cost.nodes, *iterations, iteration.iteration_s, known);
    return run;
}

std::string why_no_run(const Lowered& training, const std::optional<double>& staleness) {
    if (training.plan.run.to_accuracy.empty()) return "";
    const SamplesNeeded found = needed(training, staleness);
    return found.samples ? "" : "the whole run is not known: " + found.why;
}

}  // namespace syncline
