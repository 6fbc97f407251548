#include "sim/analysis/exchange_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/analysis/limit.hpp"
#include "sim/analysis/theory.hpp"
#include "sim/collective/parameter_server.hpp"
#include "sim/iteration/sweep.hpp"
#include "sim/lowering/rank_kinds.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/replay/symmetry.hpp"

namespace syncline {

namespace {

struct Measured {
    SweepResult result;
    Timeline timeline;
};

std::vector<std::optional<double>> closed_forms(const Cluster& cluster, const CollectivePlan& plan,
                                                const std::vector<Chosen>& chosen) {
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    const auto places = place_ranks(cluster, plan.placement, ranks);
    ExchangeCosts costs(cluster, places);
    const auto served = plan.served() ? message_cost(cluster, places, served_allreduce) : std::nullopt;
    std::vector<std::optional<double>> all;
    for (const std::uint64_t bytes : sizes_of(plan)) {
        if (!plan.served())
            all.push_back(costs.of(chosen[all.size()], bytes));
        else if (served)
            all.emplace_back(parameter_server_cost(plan.algorithm.operation, ranks,
                                                   static_cast<std::uint32_t>(plan.servers), bytes, *served));
        else
            all.emplace_back();
    }
    return all;
}

/// Returns the plan for its own size, without a sweep.
CollectivePlan single(CollectivePlan plan) {
    plan.sweep.clear();
    return plan;
}

/// Sets what limits each size. With one algorithm a link has of its bytes each size's part.
void add_limits(const Cluster& cluster, std::vector<SweepPoint>& points, const std::vector<LinkUse>& links) {
    double all_B = 0;
    for (const SweepPoint& point : points) {
        all_B += static_cast<double>(point.bytes);
        if (point.algorithm != points.front().algorithm) return;
    }
    for (SweepPoint& point : points) {
        const double part = all_B > 0 ? static_cast<double>(point.bytes) / all_B : 0;
        point.limited_by = limit_of(cluster, point.completion_time_s, links, part);
    }
}

Wires wires_of(const Cluster& cluster, const CollectivePlan& plan, const Lanes& lanes) {
    return {cluster, place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks)), lanes.channels()};
}

/// Returns the number of messages with a peer of their own in one repetition of the programs of all ranks: what a check
/// of a rotation compares.
double compared(const CollectivePlan& plan, const std::vector<Chosen>& chosen) {
    double messages = 0;
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    const std::vector<std::uint64_t> sizes = sizes_of(plan);
    for (std::size_t i = 0; i < chosen.size(); ++i)
        for (std::uint32_t lane = 0; lane < chosen[i].algorithm->lanes(); ++lane)
            for (const Step& step : chosen[i].algorithm->lane_program(lane, 0, ranks, sizes[i], 0).steps)
                for (const Message& message : step.sends) messages += message.turn == 0 ? 1 : step.repeat;
    return messages * ranks;
}

/// Returns the rotations as far as the routes of `most_pairs` show; none if a check would take minutes.
Rotations find_rotations(const Cluster& cluster, const CollectivePlan& plan, const std::vector<Chosen>& chosen,
                         std::size_t most_pairs) {
    constexpr double most_compared = 1e8;
    const std::vector<Rotation> alike = alike_ranks(plan, chosen);
    if (alike.empty() || compared(plan, chosen) > most_compared) return {};
    const Sweep sweep = build_sweep(cluster, plan, chosen, Rotations::nested(alike));
    const Lanes lanes(sweep.graph);
    return rotations_of(sweep.graph, alike, lanes, wires_of(cluster, plan, lanes), false, most_pairs);
}

/// Leaves the ranks of a sweep that stand for the others, if some do.
std::optional<Symmetry> leave_representatives(Sweep& sweep, const Cluster& cluster, const CollectivePlan& plan,
                                              const std::vector<Chosen>& chosen) {
    for (const std::size_t most_pairs : {few_pairs, all_pairs}) {
        const Rotations rotations = find_rotations(cluster, plan, chosen, most_pairs);
        if (rotations.images() == 1) break;
        Sweep some = build_sweep(cluster, plan, chosen, rotations);
        const Lanes lanes(some.graph);
        std::optional<Symmetry> symmetry = find_symmetry(some.graph, lanes, wires_of(cluster, plan, lanes));
        if (!symmetry) continue;
        sweep = std::move(some);
        return symmetry;
    }
    return std::nullopt;
}

Measured measure(const Cluster& whole, const CollectivePlan& plan, const Watch& watch) {
    Cluster cluster = whole;
    forget_unused_kinds(cluster, place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks)));
    const std::vector<Chosen> chosen = choose_exchanges(cluster, plan);
    Sweep sweep = build_sweep(cluster, plan, chosen);
    const std::vector<std::optional<double>> closed_s = closed_forms(cluster, plan, chosen);
    ReplayOptions options{.iterations = sweep.rounds, .measured = sweep.rounds - 1, .averaged = sweep.rounds};
    FidelityChoice fidelity = choose_fidelity(plan.fidelity, cluster, sweep.graph);
    std::optional<Symmetry> symmetry;
    if (fidelity.folds) symmetry = leave_representatives(sweep, cluster, plan, chosen);
    if (symmetry) options.symmetry = &*symmetry;
    options.fold = fidelity.folds;
    Measured measured{{}, watched_replay(cluster, sweep.graph, options, watch)};

    SweepResult& result = measured.result;
    result.operation = plan.algorithm.operation;
    result.algorithm = chosen.empty() ? plan.algorithm.name : algorithm_label(chosen);
    result.overlay = plan.selection ? "" : overlay_of(plan.algorithm);
    result.fabric = fabric_of(cluster);
    result.transport = transport_of(cluster);
    result.ranks = static_cast<std::uint32_t>(plan.ranks);
    const auto or_all = [&](std::uint32_t members) { return members == 0 ? result.ranks : members; };
    result.contributors = or_all(plan.algorithm.contributors);
    result.receivers = or_all(plan.algorithm.receivers);
    result.rounds = sweep.rounds;
    result.notes = unused_ways_note(cluster, measured.timeline.links);
    for (std::string& note : fault_notes(cluster, measured.timeline.iteration_end_s.back(), {}))
        result.notes.push_back(std::move(note));
    if (result.rounds > 1)
        result.notes.push_back(fmt::format(
            "times, messages and bytes are means over {} rounds, after which the peers repeat; `round` simulates a "
            "single round",
            result.rounds));
    result.folded = folded_of(std::move(fidelity), measured.timeline);
    const std::vector<std::uint64_t> sizes = sizes_of(plan);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        SweepPoint point;
        point.bytes = sizes[i];
        point.algorithm = chosen.empty() ? plan.algorithm.name : candidate_name(chosen[i].spec, chosen[i].protocol);
        if (!sweep.barriers.empty()) {
            for (const std::vector<Interval>& round : measured.timeline.recorded)
                point.completion_time_s += round[sweep.barriers[i + 1]].end_s - round[sweep.barriers[i]].end_s;
            point.completion_time_s /= sweep.rounds;
        }
        point.cost = cost_of(cluster, sweep.graph, plan.ranks, point.completion_time_s);
        point.closed_form_s = closed_s[i];
        if (point.completion_time_s > 0) {
            point.algorithm_bandwidth_Bps = static_cast<double>(sizes[i]) / point.completion_time_s;
            if (result.contributors == result.ranks && result.receivers == result.ranks)
                point.bus_bandwidth_Bps = *point.algorithm_bandwidth_Bps * bus_factor(result.operation, result.ranks);
        }
        result.points.push_back(std::move(point));
    }
    add_limits(cluster, result.points, measured.timeline.links);
    return measured;
}

}  // namespace

double bus_factor(const std::string& operation, double ranks) {
    if (operation == "allreduce") return 2 * (ranks - 1) / ranks;
    for (const char* once : {"reduce-scatter", "allgather", "all-to-all", "gather", "scatter"})
        if (operation == once) return (ranks - 1) / ranks;
    return 1;
}

Rotations rotations_of(const Cluster& cluster, const CollectivePlan& plan, const std::vector<Chosen>& chosen) {
    return find_rotations(cluster, plan, chosen, few_pairs);
}

SweepResult simulate_sweep(const Cluster& cluster, const CollectivePlan& plan, const Watch& watch) {
    return measure(cluster, plan, watch).result;
}

std::optional<double> closed_form_s(const Cluster& cluster, const CollectivePlan& plan) {
    const CollectivePlan one = single(plan);
    return closed_forms(cluster, one, choose_exchanges(cluster, one)).front();
}

CollectiveResult simulate_collective(const Cluster& cluster, const CollectivePlan& plan, const Watch& watch) {
    const auto [sweep, timeline] = measure(cluster, single(plan), watch);
    const SweepPoint& point = sweep.points.front();

    CollectiveResult result;
    result.operation = sweep.operation;
    result.algorithm = sweep.algorithm;
    result.overlay = sweep.overlay;
    result.fabric = sweep.fabric;
    result.transport = sweep.transport;
    result.ranks = sweep.ranks;
    result.rounds = sweep.rounds;
    result.notes = sweep.notes;
    result.contributors = sweep.contributors;
    result.receivers = sweep.receivers;
    result.bytes = plan.bytes;
    result.completion_time_s = point.completion_time_s;
    result.cost = point.cost;
    result.closed_form_s = point.closed_form_s;
    result.messages = timeline.messages;
    result.folded = sweep.folded;
    result.bytes_sent = timeline.bytes_sent;
    result.most_bytes_sent_by_rank = most(timeline.sent_by, plan.ranks);
    result.sent_by.assign(timeline.sent_by.begin(), timeline.sent_by.begin() + plan.ranks);
    result.received_by.assign(timeline.received_by.begin(), timeline.received_by.begin() + plan.ranks);
    result.links = busiest(cluster, timeline.links, result.completion_time_s);
    result.algorithm_bandwidth_Bps = point.algorithm_bandwidth_Bps;
    result.bus_bandwidth_Bps = point.bus_bandwidth_Bps;
    result.limited_by = point.limited_by;
    return result;
}

}  // namespace syncline
