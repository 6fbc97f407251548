#include "sim/analysis/experiment.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/analysis/scaling.hpp"
#include "sim/training/iteration.hpp"
#include "sim/workload/peak_note.hpp"

namespace syncline {

namespace {

/// Returns the algorithms that exchange shards, in place of an all-reduce.
std::string shard_algorithms(const Plan& plan) {
    const ActivationAlgorithms& algorithms = plan.parallelism.algorithms;
    return "reduce-scatter: " + algorithms.reduce_scatter + ", allgather: " + algorithms.allgather;
}

/// Returns the number of iterations over which times and counts are averaged: the period of the exchange's pattern, or
/// a multiple of it if the pattern leaves ranks idle in some rounds, since waiting may then repeat later than the
/// pattern.
std::uint32_t averaged(const std::vector<Bucket>& buckets, const std::vector<Chosen>& chosen) {
    constexpr std::uint32_t enough = 12;  // covers repetitions after 1, 2, 3, 4 or 6 periods
    std::set<const CollectiveAlgorithm*> seen;
    std::uint32_t period = 1;
    bool idle = false;
    for (std::size_t b = 0; b < chosen.size(); ++b) {
        const CollectiveAlgorithm& algorithm = *chosen[b].algorithm;
        if (!seen.insert(&algorithm).second) continue;
        period = std::lcm(period, algorithm.period());
        idle = idle || leaves_idle(algorithm, buckets[b].replicas.size);
    }
    return idle ? enough * period : period;
}

/// Returns the collective of each bucket; empty if no collective runs.
std::vector<Chosen> collectives_of(const Cluster& cluster, const Plan& plan, const std::vector<Bucket>& buckets) {
    if (plan.exchange == ExchangeKind::parameter_server) return {};
    return choose_exchanges(cluster, plan, buckets);
}

}  // namespace

void mark_best(Report& report) {
    std::map<std::string, Result*> best;
    for (Result& result : report.results) {
        if (result.choice_of.empty()) continue;
        result.best = false;
        Result*& fastest = best.try_emplace(result.choice_of, &result).first->second;
        if (result.time.iteration_s < fastest->time.iteration_s) fastest = &result;
    }
    for (const auto& [variant, fastest] : best) fastest->best = true;
}

std::uint32_t averaged_iterations(const Cluster& cluster, const Model& model, const Plan& plan) {
    const std::vector<Bucket> buckets = plan_buckets(cluster, model, plan);
    const std::uint32_t window = averaged(buckets, collectives_of(cluster, plan, buckets));
    // A single iteration of a random process says little, and there is no steady state to detect.
    return plan.noise.jitter > 0 ? std::max(window, static_cast<std::uint32_t>(plan.iterations) - 1) : window;
}

ReplayedIteration replay_iteration(const Cluster& cluster, const Model& model, const Plan& plan, const Watch& watch,
                                   const ReplayOptions& recorded) {
    ReplayedIteration replayed;
    replayed.graph = build_iteration(cluster, model, plan);
    const auto asked = static_cast<std::uint32_t>(plan.iterations);
    const std::uint32_t window = averaged_iterations(cluster, model, plan);
    const bool random = plan.noise.jitter > 0;
    // Twice the window is needed to see whether it is steady, even if fewer iterations are requested and the window has
    // several. One more iteration follows: without it, nothing of a next iteration would overlap with the measured one.
    const std::uint32_t least = random ? window + 1 : 2 * window + 1;
    const std::uint32_t iterations = window == 1 ? asked : std::max(asked, least);
    ReplayOptions options = recorded;
    options.iterations = iterations == 1 ? 1 : iterations + 1;
    options.measured = iterations - 1;
    options.window = window;
    FidelityChoice fidelity = choose_fidelity(plan.fidelity, cluster, replayed.graph, options.messages);
    options.fold = fidelity.folds;
    replayed.window = window;
    replayed.measured = options.measured;
    replayed.timeline = watched_replay(cluster, replayed.graph, options, watch);
    replayed.folded = folded_of(std::move(fidelity), replayed.timeline);
    replayed.time = measure(replayed.graph, replayed.timeline, window);
    return replayed;
}

Result simulate(const Cluster& cluster, const Model& model, const Plan& plan, const Watch& watch) {
    return result_of(cluster, model, plan, replay_iteration(cluster, model, plan, watch), watch);
}

Result result_of(const Cluster& cluster, const Model& model, const Plan& plan, const ReplayedIteration& whole,
                 const Watch& watch) {
    const Breakdown& time = whole.time;
    const Timeline& timeline = whole.timeline;
    const Breakdown single =
        plan.ranks == 1 && !plan.noise.any() ? time : replay_iteration(cluster, model, one_rank(plan), watch).time;

    Result result;
    result.workload = model.name;
    result.ranks = plan.ranks;
    result.samples = plan.global_batch();
    result.fabric = fabric_of(cluster);
    result.transport = transport_of(cluster);
    const bool served = plan.exchange == ExchangeKind::parameter_server;
    result.exchange = served ? served_allreduce : plan.exchange == ExchangeKind::gossip ? "gossip" : "allreduce";
    if (plan.exchange == ExchangeKind::allreduce)
        result.algorithm =
            plan.selection
                ? algorithm_label(plan.selection, collectives_of(cluster, plan, plan_buckets(cluster, model, plan)))
                : plan.algorithm.name;
    if (plan.parallelism.sharding != Sharding::none) result.algorithm = shard_algorithms(plan);
    if (!served) result.overlay = overlay_of(plan.algorithm);
    result.parallelism = plan.parallelism;
    result.time = time;
    if (time.iteration_s > 0)
        result.throughput_samples_per_s = static_cast<double>(plan.global_batch()) / time.iteration_s;
    result.scaling = plan.scaling;
    result.scaling_efficiency = scaling_efficiency(plan, time.iteration_s, single.iteration_s);
    result.utilisation = utilisation_of(cluster, model, plan, time.iteration_s);
    result.messages = timeline.messages;
    result.folded = whole.folded;
    result.bytes_sent = timeline.bytes_sent;
    result.most_bytes_sent_by_rank = most(timeline.sent_by, plan.ranks);
    result.gradient_bytes = model.gradient_bytes();
    result.closed_form = closed_form(cluster, model, plan);
    result.cost = cost_of(cluster, whole.graph, plan.ranks, time.iteration_s);
    result.memory = memory_of(cluster, model, plan);
    result.links = busiest(cluster, timeline.links, time.iteration_s);
    result.notes = scaling_notes(cluster, model, plan, result.scaling_efficiency);
    if (std::string note = peak_note(plan.compute, model.name, cluster.device); !note.empty())
        result.notes.push_back(std::move(note));
    for (std::string& note : unused_ways_note(cluster, timeline.links)) result.notes.push_back(std::move(note));
    return result;
}

}  // namespace syncline
