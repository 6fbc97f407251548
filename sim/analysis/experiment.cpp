#include "sim/analysis/experiment.hpp"

#include "sim/collective/parameter_server.hpp"
#include "sim/training/iteration.hpp"

namespace syncline {

namespace {

Timeline watched_replay(const Cluster& cluster, const TaskGraph& graph, ReplayOptions options, const Watch& watch) {
    if (watch) {
        const std::uint64_t expected = count_messages(graph) * options.iterations;
        options.progress = [watch, expected](const Progress& progress) { watch(progress, expected); };
    }
    return replay_isolated(cluster, graph, options);
}

}  // namespace

Result simulate(const Cluster& cluster, const Model& model, const Plan& plan, const Watch& watch) {
    // One more than is asked for: an iteration that no other follows has nothing of a next one beside it.
    const auto iterations = static_cast<std::uint32_t>(plan.iterations);
    const ReplayOptions options{iterations + 1, iterations - 1, {}};
    const auto run = [&](const Plan& one) {
        const TaskGraph graph = build_iteration(cluster, model, one);
        Timeline timeline = watched_replay(cluster, graph, options, watch);
        return std::pair{measure(graph, timeline), std::move(timeline)};
    };
    const auto [time, timeline] = run(plan);
    Plan alone = plan;
    alone.ranks = 1;
    const Breakdown single = plan.ranks == 1 ? time : run(alone).first;

    Result result;
    result.workload = model.name;
    result.ranks = plan.ranks;
    result.time = time;
    if (time.iteration_s > 0) {
        result.throughput_samples_per_s = static_cast<double>(plan.ranks * plan.batch_per_rank) / time.iteration_s;
        result.scaling_efficiency = single.iteration_s / time.iteration_s;
    }
    result.messages = timeline.messages;
    result.bytes_sent = timeline.bytes_sent;
    result.gradient_bytes = model.gradient_bytes();
    result.closed_form = closed_form(cluster, model, plan);
    return result;
}

CollectiveResult simulate_allreduce(const Cluster& cluster, std::uint32_t ranks, std::uint32_t servers,
                                    const std::string& algorithm, std::uint64_t bytes, const Watch& watch) {
    const Timeline timeline =
        watched_replay(cluster, build_collective(cluster, ranks, servers, algorithm, bytes), {}, watch);

    CollectiveResult result{"allreduce", algorithm, ranks, bytes, timeline.iteration_end_s.front(), {}, 0, 0, {}, {}};
    result.messages = timeline.messages;
    result.bytes_sent = timeline.bytes_sent;
    if (cluster.network == NetworkModel::exact) {
        const bool served = algorithm == "parameter-server";
        const MessageCost message =
            message_cost(cluster, served ? cluster.host.reduction_Bps : cluster.device.reduction_Bps);
        result.closed_form_s = served ? parameter_server_cost(ranks, servers, bytes, message)
                                      : allreduce_algorithm(algorithm).cost(ranks, bytes, message);
    }
    if (result.completion_time_s > 0) {
        const double bandwidth = static_cast<double>(bytes) / result.completion_time_s;
        result.algorithm_bandwidth_Bps = bandwidth;
        result.bus_bandwidth_Bps = bandwidth * 2 * (ranks - 1) / ranks;
    }
    return result;
}

}  // namespace syncline
