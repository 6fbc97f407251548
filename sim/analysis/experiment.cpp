#include "sim/analysis/experiment.hpp"

#include "sim/analysis/carried_cost.hpp"
#include "sim/collective/parameter_server.hpp"
#include "sim/training/iteration.hpp"

#include <algorithm>

namespace syncline {

namespace {

Timeline watched_replay(const Cluster& cluster, const TaskGraph& graph, ReplayOptions options, const Watch& watch) {
    if (watch) {
        const std::uint64_t expected = count_messages(graph, options.iterations);
        options.progress = [watch, expected](const Progress& progress) { watch(progress, expected); };
    }
    return replay_isolated(cluster, graph, options);
}

std::string fabric_of(const Cluster& cluster) {
    return cluster.native ? cluster.native->file : shape_name(cluster.fabric.topology.shape);
}

std::string overlay_of(const AlgorithmSpec& algorithm) {
    return algorithm.overlay ? shape_name(algorithm.overlay->shape) : "";
}

/// Over how many iterations times and counts are averaged: those in which the exchange's pattern comes round, and where
/// it leaves ranks idle in some of them several times as many, since who waits for whom may take longer to come round.
std::uint32_t averaged(const Plan& plan) {
    if (plan.exchange == ExchangeKind::parameter_server || plan.ranks == 1) return 1;
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    const auto algorithm = make_algorithm(plan.algorithm, ranks);
    constexpr std::uint32_t enough = 12;  // comes round after 1, 2, 3, 4 or 6 patterns
    if (leaves_idle(*algorithm, ranks)) return enough * algorithm->period();
    return algorithm->period();
}

/// Ranks are the first processes, servers come behind them.
std::uint64_t most(const std::vector<std::uint64_t>& by_process, std::int64_t ranks) {
    return *std::max_element(by_process.begin(), by_process.begin() + ranks);
}

/// The links by utilisation, the most used first, at most ten of them.
std::vector<LinkLoad> busiest(const Cluster& cluster, const std::vector<LinkUse>& uses, double seconds) {
    std::vector<LinkLoad> loads;
    if (cluster.network == NetworkModel::Constant) return loads;  // bytes take no time there
    for (const LinkUse& use : uses) {
        if (seconds > 0)
            loads.push_back({use.name, use.bytes, static_cast<double>(use.bytes) / (use.bandwidth_Bps * seconds)});
    }
    std::stable_sort(loads.begin(), loads.end(),
                     [](const LinkLoad& a, const LinkLoad& b) { return a.utilisation > b.utilisation; });
    constexpr std::size_t shown = 10;
    if (loads.size() > shown) loads.resize(shown);
    return loads;
}

/// How nccl-tests makes a bus bandwidth of an algorithm bandwidth; exchanges that it does not know count as they are.
double bus_factor(const std::string& operation, double ranks) {
    if (operation == "allreduce") return 2 * (ranks - 1) / ranks;
    if (operation == "all-to-all") return (ranks - 1) / ranks;
    return 1;
}

}  // namespace

Result simulate(const Cluster& cluster, const Model& model, const Plan& plan, const Watch& watch) {
    const auto run = [&](const Plan& one) {
        const TaskGraph graph = build_iteration(cluster, model, one);
        const std::uint32_t window = averaged(one);
        // Twice the window, to see whether it is steady; where that is more than one iteration, also where fewer are
        // asked for. And one behind: an iteration that no other follows has nothing of a next one beside it.
        const auto asked = static_cast<std::uint32_t>(one.iterations);
        const std::uint32_t iterations = window == 1 ? asked : std::max(asked, 2 * window + 1);
        Timeline timeline = watched_replay(cluster, graph, {iterations + 1, iterations - 1, window}, watch);
        return std::pair{measure(graph, timeline, window), std::move(timeline)};
    };
    const auto [time, timeline] = run(plan);
    Plan alone = plan;
    alone.ranks = 1;
    const Breakdown single = plan.ranks == 1 ? time : run(alone).first;

    Result result;
    result.workload = model.name;
    result.ranks = plan.ranks;
    result.fabric = fabric_of(cluster);
    const bool served = plan.exchange == ExchangeKind::parameter_server;
    result.exchange = served ? served_allreduce : plan.exchange == ExchangeKind::gossip ? "gossip" : "allreduce";
    if (plan.exchange == ExchangeKind::allreduce) result.algorithm = plan.algorithm.name;
    if (!served) result.overlay = overlay_of(plan.algorithm);
    result.time = time;
    if (time.iteration_s > 0) {
        result.throughput_samples_per_s = static_cast<double>(plan.ranks * plan.batch_per_rank) / time.iteration_s;
        result.scaling_efficiency = single.iteration_s / time.iteration_s;
    }
    result.messages = timeline.messages;
    result.bytes_sent = timeline.bytes_sent;
    result.most_bytes_sent_by_rank = most(timeline.sent_by, plan.ranks);
    result.gradient_bytes = model.gradient_bytes();
    result.closed_form = closed_form(cluster, model, plan);
    result.links = busiest(cluster, timeline.links, time.iteration_s);
    return result;
}

CollectiveResult simulate_collective(const Cluster& cluster, const CollectivePlan& plan, const Watch& watch) {
    const Timeline timeline = watched_replay(cluster, build_collective(cluster, plan), {}, watch);
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);

    CollectiveResult result;
    result.operation = plan.algorithm.operation;
    result.algorithm = plan.algorithm.name;
    result.overlay = overlay_of(plan.algorithm);
    result.fabric = fabric_of(cluster);
    result.ranks = ranks;
    result.bytes = plan.bytes;
    result.completion_time_s = timeline.iteration_end_s.front();
    result.messages = timeline.messages;
    result.bytes_sent = timeline.bytes_sent;
    result.most_bytes_sent_by_rank = most(timeline.sent_by, plan.ranks);
    result.sent_by.assign(timeline.sent_by.begin(), timeline.sent_by.begin() + plan.ranks);
    result.received_by.assign(timeline.received_by.begin(), timeline.received_by.begin() + plan.ranks);
    result.links = busiest(cluster, timeline.links, result.completion_time_s);
    const auto places = place_ranks(cluster, plan.placement, ranks);
    if (const auto message = message_cost(cluster, places, plan.algorithm.name)) {
        result.closed_form_s =
            plan.served() ? parameter_server_cost(ranks, static_cast<std::uint32_t>(plan.servers), plan.bytes, *message)
                          : carried_cost(cluster, places, *make_algorithm(plan.algorithm, ranks), plan.bytes, *message);
    }
    if (result.completion_time_s > 0) {
        const double bandwidth = static_cast<double>(plan.bytes) / result.completion_time_s;
        result.algorithm_bandwidth_Bps = bandwidth;
        result.bus_bandwidth_Bps = bandwidth * bus_factor(plan.algorithm.operation, ranks);
    }
    return result;
}

}  // namespace syncline
