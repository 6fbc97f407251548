#include "sim/jobs/job_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/analysis/breakdown.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/trace_graph.hpp"
#include "sim/jobs/traffic.hpp"
#include "sim/replay/steady.hpp"

namespace syncline {

namespace {

/// Returns the placement of a job's ranks on its devices, in the order that its own placement says.
RankPlacement listed(const Cluster& cluster, const RankPlacement& own, std::vector<std::int64_t> devices) {
    if (own.order == RankPlacement::Order::round_robin)
        std::ranges::stable_sort(devices, {}, [&](std::int64_t device) { return device % cluster.node.devices; });
    if (own.order == RankPlacement::Order::random) {
        std::vector<std::int64_t> shuffled;
        Cluster flat;  // of one device per node: place_ranks() then shuffles the numbers of these devices
        flat.nodes = std::ssize(devices);
        for (const Place& place : place_ranks(flat, own, static_cast<std::uint32_t>(devices.size())))
            shuffled.push_back(devices[place.node]);
        devices = std::move(shuffled);
    }
    return {RankPlacement::Order::listed, std::move(devices), own.seed};
}

TaskGraph graph_of(Cluster cluster, const JobPlan& job, const std::vector<std::int64_t>& devices) {
    cluster.device = job.device;
    if (job.trace) {
        TracePlan plan = *job.trace;
        plan.placement = listed(cluster, plan.placement, devices);
        return build_trace(cluster, plan);
    }
    Plan plan = job.plan;
    plan.placement = listed(cluster, plan.placement, devices);
    return build_iteration(lower(cluster, job.model, std::move(plan)));
}

/// Returns the links of a replay with the bytes of that many times its iterations.
std::vector<LinkUse> links_of(const Timeline& timeline, std::uint32_t times) {
    std::vector<LinkUse> links = timeline.links;
    for (LinkUse& link : links) link.bytes *= times;
    return links;
}

/// What the processes of a replay do, in seconds.
struct Work {
    std::vector<double> computed_s, exposed_s, on_host_s;  ///< by process

    /// Returns that of the last iteration.
    static Work in_last(const TaskGraph& graph, const Timeline& timeline) {
        const std::size_t processes = graph.processes().size();
        Work work{std::vector<double>(processes, 0), std::vector<double>(processes, 0),
                  std::vector<double>(processes, 0)};
        std::vector<std::vector<Interval>> computing(processes), exchanging(processes);
        for (TaskId id = 0; id < graph.tasks().size(); ++id) {
            const Task& task = graph.tasks()[id];
            const Stream& stream = graph.streams()[task.stream];
            const Interval& interval = timeline.measured()[id];
            const double length_s = interval.end_s - interval.start_s;
            const bool exchanges = task.exchange != Task::no_exchange;
            if (stream.kind == StreamKind::compute) computing[stream.process].push_back(interval);
            if (exchanges && stream.kind != StreamKind::receive) exchanging[stream.process].push_back(interval);
            if (stream.kind == StreamKind::compute && !exchanges) work.computed_s[stream.process] += length_s;
            if (stream.kind == StreamKind::aggregate || stream.kind == StreamKind::host)
                work.on_host_s[stream.process] += length_s;
        }
        for (std::size_t process = 0; process < processes; ++process) {
            const auto in_flight = merged(std::move(exchanging[process]));
            work.exposed_s[process] = length_s(in_flight) - overlap_s(merged(std::move(computing[process])), in_flight);
        }
        return work;
    }
};

/// Returns the run of a part, or of a graph without parts. `folded`: the number of iterations, if each counts as the
/// last one, and processes may stand for others; nothing if all were simulated.
JobRun run_of(const TaskGraph& graph, const Timeline& timeline, PartId part, double end_s,
              std::optional<std::uint32_t> folded) {
    const Work work =
        folded ? Work::in_last(graph, timeline) : Work{timeline.computed_s, timeline.exposed_s, timeline.on_host_s};
    const std::uint32_t times = folded.value_or(1);
    JobRun run;
    run.end_s = end_s;
    for (ProcessId process = 0; process < graph.processes().size(); ++process) {
        if (graph.processes()[process].part != part) continue;
        run.activity.compute_s += work.computed_s[process] * times;
        run.activity.exposed_communication_s += work.exposed_s[process] * times;
        run.activity.host_s += work.on_host_s[process] * times;
        run.longest_compute_s = std::max(run.longest_compute_s, work.computed_s[process] * times);
        run.bytes_sent += timeline.sent_by[process] * times;
    }
    return run;
}

/// Says that jobs wait for themselves, if that is the error.
[[noreturn]] void explain_deadlock(const std::logic_error& error) {
    const std::string why = error.what();
    if (!why.starts_with("deadlock")) throw error;
    throw ReplayError(why);
}

}  // namespace

PlacedJob place_job(const Cluster& cluster, const JobPlan& plan, std::vector<std::int64_t> devices, double start_s) {
    const auto refuse = [&](const char* why) {
        throw ReplayError(fmt::format("job '{}' cannot run on its devices: {}", plan.name, why));
    };
    PlacedJob job{&plan, std::move(devices), start_s, plan.iterations()};
    try {
        job.graph = graph_of(cluster, plan, job.devices);
    } catch (const ParallelismError& error) {
        refuse(error.what());
    } catch (const AlgorithmError& error) {
        refuse(error.what());
    } catch (const TraceError& error) {
        refuse(error.what());
    }
    return job;
}

bool folds(const Cluster& cluster, const PlacedJob& job) {
    const Fidelity fidelity = job.plan->trace ? job.plan->trace->fidelity : job.plan->plan.fidelity;
    return iterations_alike(job.graph) && choose_fidelity(fidelity, cluster, job.graph).folds;
}

double iteration_alone_s(const Cluster& cluster, PlacedJob job, const Watch& watch) {
    job.iterations = 2;
    const std::vector<double> ends_s = replay_together(cluster, {&job}, {}, {}, watch).timeline.part_end_s.front();
    return ends_s[1] - ends_s[0];
}

JobRun replay_alone(const Cluster& cluster, const PlacedJob& job, const Watch& watch) {
    if (folds(cluster, job)) {
        ReplayOptions options;
        options.iterations = job.iterations;
        options.measured = options.iterations - 1;
        options.fold = true;
        const Timeline timeline = watched_replay(cluster, job.graph, options, watch);
        JobRun run = run_of(job.graph, timeline, 0, job.start_s + timeline.iteration_end_s.back(), options.iterations);
        run.links = links_of(timeline, options.iterations);
        return run;
    }
    SharedReplay replayed = replay_together(cluster, {&job}, {}, {}, watch);
    replayed.runs.front().links = std::move(replayed.links);
    return std::move(replayed.runs.front());
}

SharedReplay replay_together(const Cluster& cluster, const std::vector<const PlacedJob*>& jobs,
                             const std::vector<TrafficPlan>& traffic, const TogetherOptions& how, const Watch& watch) {
    SharedReplay replayed;
    ReplayOptions options;
    options.messages = how.record;
    bool even = true;
    for (const PlacedJob* job : jobs) {
        replayed.graph.append(job->graph);
        const std::uint32_t iterations = std::min(how.most_iterations, job->iterations);
        even = even && (options.parts.empty() || iterations == options.iterations);
        options.parts.push_back({iterations, job->start_s, false, job->plan->name});
        options.iterations = std::max(options.iterations, iterations);
    }
    options.measured = options.iterations - 1;
    for (const TrafficPlan& one : traffic) {
        replayed.graph.append(traffic_graph(cluster, one));
        const bool random = one.kind == TrafficPlan::Kind::poisson;
        options.parts.push_back({random ? 1 : PartReplay::endless, 0, true, one.name});
    }
    options.fold = !how.record && even && traffic.empty() && options.iterations > 1 && jobs.size() > 1 &&
                   std::ranges::all_of(jobs, [&](const PlacedJob* job) { return folds(cluster, *job); });
    try {
        replayed.timeline = watched_replay(cluster, replayed.graph, options, watch);
    } catch (const std::logic_error& error) {
        explain_deadlock(error);
    }
    replayed.links = links_of(replayed.timeline, options.fold ? options.iterations : 1);
    for (PartId part = 0; part < jobs.size(); ++part) {
        double end_s = jobs[part]->start_s;
        for (const double one_s : replayed.timeline.part_end_s[part]) end_s = std::max(end_s, one_s);
        replayed.runs.push_back(run_of(replayed.graph, replayed.timeline, part, end_s,
                                       options.fold ? std::optional(options.iterations) : std::nullopt));
    }
    return replayed;
}

}  // namespace syncline
