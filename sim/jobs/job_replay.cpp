#include "sim/jobs/job_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/base/replay_error.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/trace_graph.hpp"
#include "sim/jobs/traffic.hpp"

namespace syncline {

namespace {

/// Returns the placement of a job's ranks on its devices, in the order that its own placement says.
RankPlacement listed(const Cluster& cluster, const RankPlacement& own, std::vector<std::int64_t> devices) {
    if (own.order == RankPlacement::Order::round_robin)
        std::ranges::stable_sort(devices, {}, [&](std::int64_t device) { return device % cluster.node.devices; });
    if (own.order == RankPlacement::Order::random) {
        RankPlacement drawn = own;
        std::vector<std::int64_t> shuffled;
        Cluster flat;  // of one device per node: place_ranks() then shuffles the numbers of these devices
        flat.nodes = std::ssize(devices);
        for (const Place& place : place_ranks(flat, drawn, static_cast<std::uint32_t>(devices.size())))
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

/// Returns true if every iteration of the job computes and sends the same.
bool iterations_alike(const JobPlan& job, const TaskGraph& graph) {
    if (!job.trace && job.plan.noise.varies()) return false;
    for (ExchangeId exchange = 0; exchange < graph.exchanges(); ++exchange)
        if (graph.exchange(exchange).algorithm->period() != 1) return false;
    return true;
}

std::set<std::string> names_of(const std::vector<LinkUse>& links) {
    std::set<std::string> names;
    for (const LinkUse& link : links) names.insert(link.name);
    return names;
}

/// Returns the run of a job whose iterations were folded: each of them is as the last one.
JobRun folded_run(const PlacedJob& job, const Timeline& timeline) {
    const double iterations = job.plan->iterations();
    JobRun run;
    run.end_s = job.start_s + timeline.iteration_end_s.back();
    run.bytes_sent = timeline.bytes_sent * job.plan->iterations();
    run.links = names_of(timeline.links);
    std::vector<double> computed_s(job.graph.processes().size(), 0);
    for (TaskId id = 0; id < job.graph.tasks().size(); ++id) {
        const Task& task = job.graph.tasks()[id];
        const Stream& stream = job.graph.streams()[task.stream];
        if (stream.kind != StreamKind::compute || task.exchange != Task::no_exchange) continue;
        const Interval& interval = timeline.measured()[id];
        computed_s[stream.process] += (interval.end_s - interval.start_s) * iterations;
    }
    for (const double seconds : computed_s) {
        run.computed_s += seconds;
        run.longest_compute_s = std::max(run.longest_compute_s, seconds);
    }
    return run;
}

JobRun run_of_part(const TaskGraph& graph, const Timeline& timeline, PartId part, double start_s) {
    JobRun run;
    run.end_s = start_s;
    for (const double end_s : timeline.part_end_s[part]) run.end_s = std::max(run.end_s, end_s);
    for (ProcessId process = 0; process < graph.processes().size(); ++process) {
        if (graph.processes()[process].part != part) continue;
        run.computed_s += timeline.computed_s[process];
        run.longest_compute_s = std::max(run.longest_compute_s, timeline.computed_s[process]);
        run.bytes_sent += timeline.sent_by[process];
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
    PlacedJob job{&plan, std::move(devices), start_s};
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

JobRun replay_alone(const Cluster& cluster, const PlacedJob& job, const Watch& watch) {
    const Fidelity fidelity = job.plan->trace ? job.plan->trace->fidelity : job.plan->plan.fidelity;
    if (iterations_alike(*job.plan, job.graph) && choose_fidelity(fidelity, cluster, job.graph).folds) {
        ReplayOptions options;
        options.iterations = job.plan->iterations();
        options.measured = options.iterations - 1;
        options.fold = true;
        return folded_run(job, watched_replay(cluster, job.graph, std::move(options), watch));
    }
    SharedReplay replayed = replay_together(cluster, {&job}, {}, false, watch);
    replayed.runs.front().links = names_of(replayed.timeline.links);
    return std::move(replayed.runs.front());
}

SharedReplay replay_together(const Cluster& cluster, const std::vector<const PlacedJob*>& jobs,
                             const std::vector<TrafficPlan>& traffic, bool record, const Watch& watch) {
    SharedReplay replayed;
    ReplayOptions options;
    options.messages = record;
    for (const PlacedJob* job : jobs) {
        replayed.graph.append(job->graph);
        options.parts.push_back({job->plan->iterations(), job->start_s});
        options.iterations = std::max(options.iterations, job->plan->iterations());
    }
    for (const TrafficPlan& one : traffic) {
        replayed.graph.append(traffic_graph(cluster, one));
        const bool random = one.kind == TrafficPlan::Kind::poisson;
        options.parts.push_back({random ? 1 : PartReplay::endless, 0, true});
    }
    try {
        replayed.timeline = watched_replay(cluster, replayed.graph, options, watch);
    } catch (const std::logic_error& error) {
        explain_deadlock(error);
    }
    for (PartId part = 0; part < jobs.size(); ++part)
        replayed.runs.push_back(run_of_part(replayed.graph, replayed.timeline, part, jobs[part]->start_s));
    return replayed;
}

}  // namespace syncline
