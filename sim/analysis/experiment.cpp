#include "sim/analysis/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "sim/analysis/host_bound.hpp"
#include "sim/analysis/limit.hpp"
#include "sim/analysis/micro_batches.hpp"
#include "sim/analysis/nominal_links.hpp"
#include "sim/analysis/scaling.hpp"
#include "sim/analysis/slowest.hpp"
#include "sim/base/counted.hpp"
#include "sim/iteration/alike.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/lowering/rank_kinds.hpp"
#include "sim/replay/symmetry.hpp"
#include "sim/workload/peak_note.hpp"

namespace syncline {

namespace {

/// Returns the algorithms that exchange shards, in place of an all-reduce.
std::string shard_algorithms(const Lowered& training) {
    std::vector<Chosen> scattered, reduced, gathered;
    for (const std::vector<BucketExchange>& exchanges : training.reductions)
        for (const BucketExchange& exchange : exchanges)
            (exchange.apart ? reduced : scattered).push_back(exchange.chosen);
    for (const BucketExchange& exchange : training.gatherings) gathered.push_back(exchange.chosen);
    for (const PlacedLayer& layer : training.arrangement.layers)
        for (const ActivationExchange& exchange : layer.exchanges.weights)
            gathered.push_back({exchange.spec, exchange.protocol, "", "", exchange.algorithm});
    const ActivationAlgorithms& algorithms = training.plan.parallelism.algorithms;
    const auto label = [](const std::vector<Chosen>& chosen, const std::string& none) {
        return chosen.empty() ? none : algorithm_label(chosen);
    };
    std::string all = fmt::format("reduce-scatter: {}, allgather: {}", label(scattered, algorithms.reduce_scatter),
                                  label(gathered, algorithms.allgather));
    if (training.plan.parallelism.shard_ranks) all += ", allreduce: " + label(reduced, training.plan.algorithm.name);
    return all;
}

double mean_iteration_s(const Result& result) {
    return result.repeated ? result.repeated->mean : result.time.iteration_s;
}

/// Sets the expected computation time of the slowest rank.
void add_slowest(Result& result, const TaskGraph& graph, const Noise& noise) {
    if (noise.jitter == 0 && noise.node_jitter == 0) return;
    std::vector<RankTime> ranks(static_cast<std::size_t>(result.ranks));
    for (const Task& task : graph.tasks()) {
        const Stream& stream = graph.streams()[task.stream];
        if (stream.kind == StreamKind::compute && stream.process < ranks.size())
            ranks[stream.process].seconds += task.seconds;
    }
    double planned_s = 0;
    for (ProcessId rank = 0; rank < ranks.size(); ++rank) {
        const Pace& pace = graph.processes()[rank].pace;
        planned_s = std::max(planned_s, ranks[rank].seconds);
        ranks[rank] = {pace.slowdown * ranks[rank].seconds, pace.node};
    }
    if (planned_s == 0) return;
    result.expected_slowest_s = expected_slowest_s(ranks, noise.jitter, noise.node_jitter);
    result.expected_slowest_factor = *result.expected_slowest_s / planned_s;
}

/// Returns whether the exchanges that updates need not wait for yet take longer than the measured iteration.
bool exchanges_fall_behind(const Lowered& training, const ReplayedIteration& replayed) {
    const Plan& plan = training.plan;
    if (plan.exchange_delay == 0) return false;
    constexpr double small = 1e-3;  // the iteration's error is no larger
    const double random = training.iterations_differ() ? 3 * replayed.time.standard_error : 0;
    return falling_behind(replayed.graph, replayed.timeline, replayed.averaged) > small + random;
}

/// Returns whether workers of different speeds have not reached the bound of their staleness yet, which makes the fast
/// ones wait.
bool workers_drift_apart(const Lowered& training, const TaskGraph& graph, const WorkerUpdates& updates) {
    const Plan& plan = training.plan;
    if (plan.servers.updates != Updates::stale_synchronous) return false;
    if (updates.lead == 0 || updates.lead >= static_cast<std::uint64_t>(plan.servers.staleness)) return false;
    constexpr double small = 0.01;
    const auto [slowest, fastest] = std::ranges::minmax(updates.per_s_by_rank);
    if (fastest <= slowest * (1 + small)) return false;
    if (training.kinds_differ) return true;
    // Jitter alone lets workers drift apart and together again; and in step the last is an iteration behind the first.
    const double first = graph.processes().front().pace.slowdown;
    for (std::size_t rank = 1; rank < updates.per_s_by_rank.size(); ++rank)
        if (graph.processes()[rank].pace.slowdown != first) return true;
    return !training.iterations_differ() && updates.lead > 1;
}

/// Returns the maximum error of the iteration time if ends have an error of up to `error_s`. Then another rank that
/// ends about as late may be the last, whose iteration began at another time.
double iteration_error_s(const TaskGraph& graph, const Timeline& timeline, std::uint32_t window, double error_s) {
    if (error_s == 0 || !std::isfinite(error_s)) return error_s;
    const Interval last = window_of(timeline, last_update(graph, timeline), window);
    double apart_s = 0;
    for (TaskId task = 0; task < graph.tasks().size(); ++task) {
        if (graph.tasks()[task].phase != Phase::update) continue;
        const Interval other = window_of(timeline, task, window);
        if (other.end_s >= last.end_s - 2 * error_s)
            apart_s = std::max(apart_s, std::abs(other.start_s - last.start_s));
    }
    return error_s + apart_s / window;
}

/// Returns the harmonic mean, over the ranks, of the times of one rank alone.
double reference_s(const std::vector<Reference>& references, const Watch& watch) {
    double speeds = 0, ranks = 0;
    for (const Reference& each : references) {
        const double seconds = replay_representatives(each.one, watch).time.iteration_s;
        if (references.size() == 1 || seconds <= 0) return seconds;
        speeds += static_cast<double>(each.ranks) / seconds;
        ranks += static_cast<double>(each.ranks);
    }
    return ranks / speeds;
}

/// Returns the first reference that does not fit into its device, or the first; without any, `otherwise`.
const Lowered& tightest_of(const std::vector<Reference>& references, const Lowered& otherwise) {
    for (const Reference& each : references)
        if (!memory_of(each.one).fits()) return each.one;
    return references.empty() ? otherwise : references.front().one;
}

/// Returns the notes on compute times, each once, for each kind of device with ranks.
std::vector<std::string> compute_notes(const Lowered& training) {
    std::set<std::size_t> kinds;
    for (const Place& place : training.places) kinds.insert(training.cluster.kind_of(place.node));
    std::vector<std::string> notes;
    for (const std::size_t kind : kinds) {
        const Device& device = training.cluster.device_of(kind);
        for (const std::string& note : {peak_note(training.plan.compute, training.model.name, device),
                                        missing_rate_note(training.plan.compute, training.model, device)})
            if (!note.empty() && std::ranges::count(notes, note) == 0) notes.push_back(note);
    }
    return notes;
}

bool some_price(const Cluster& cluster) {
    for (std::size_t kind = 0; kind < cluster.kinds(); ++kind)
        if (cluster.price_of(kind)) return true;
    return false;
}

/// Returns what kinds of ranks there are, if several.
std::optional<KindsResult> kinds_of(const Lowered& training) {
    if (training.kinds.empty()) return std::nullopt;
    constexpr double longest = std::numeric_limits<double>::infinity();
    KindsResult kinds{devices_text(training), training.kinds.front().samples, 0, longest, 0};
    for (std::uint32_t kind = 0; kind < training.kinds.size(); ++kind) {
        const RankKind& one = training.kinds[kind];
        kinds.least_samples = std::min(kinds.least_samples, one.samples);
        kinds.most_samples = std::max(kinds.most_samples, one.samples);
        for (std::uint32_t stage = 0; stage < training.arrangement.stages; ++stage) {
            if (!training.kinds_of_stage(stage).contains(kind)) continue;
            const double seconds = computation_s(one, stage);
            kinds.least_compute_s = std::min(kinds.least_compute_s, seconds);
            kinds.most_compute_s = std::max(kinds.most_compute_s, seconds);
        }
    }
    return kinds;
}

/// Returns the ranks on each kind of device and their samples, if there are several kinds; empty otherwise.
std::string kinds_note(const Lowered& training) {
    if (training.kinds.empty()) return "";
    std::vector<std::string> parts;
    for (const RankKind& kind : training.kinds)
        parts.push_back(fmt::format("{} on {} with {}", syncline::counted(kind.ranks, "rank"),
                                    training.cluster.device_of(kind.node_kind).name,
                                    syncline::counted(kind.samples, "sample")));
    return fmt::format("ranks wait for the slowest of {}: {}{}", syncline::counted(std::ssize(parts), "kind"),
                       fmt::join(parts, ", "), training.plan.parallelism.layout.replica() > 1 ? " of a replica" : "");
}

/// Returns the rotations as far as the routes of `most_pairs` show.
Rotations find_rotations(const Lowered& training, std::size_t most_pairs) {
    const std::vector<Rotation> alike = alike_ranks(training);
    if (alike.empty()) return {};
    // All microbatches have the same exchanges.
    const Lowered few = with_micro_batches(training, training.plan.parallelism.pipeline.fewest_micro_batches());
    const TaskGraph graph = build_representatives(few, Rotations::nested(alike));
    const Lanes lanes(graph);
    const Wires wires(training.cluster, training.places, lanes.channels());
    return rotations_of(graph, alike, lanes, wires, training.plan.fidelity == Fidelity::averaged, most_pairs);
}

}  // namespace

Rotations rotations_of(const Lowered& training) {
    return find_rotations(training, few_pairs);
}

std::optional<TaskGraph> representatives_of(const Lowered& training) {
    for (const std::size_t most_pairs : {few_pairs, all_pairs}) {
        const Rotations rotations = find_rotations(training, most_pairs);
        if (rotations.images() == 1) break;
        std::optional<TaskGraph> graph = build_representatives(training, rotations);
        const Lanes lanes(*graph);
        const Wires wires(training.cluster, training.places, lanes.channels());
        if (find_symmetry(*graph, lanes, wires, training.plan.fidelity == Fidelity::averaged)) return graph;
    }
    return std::nullopt;
}

void mark_best(Report& report) {
    std::map<std::string, Result*> best;
    for (Result& result : report.results) {
        if (result.choice_of.empty()) continue;
        result.best = false;
        Result*& fastest = best.try_emplace(result.choice_of, &result).first->second;
        if (mean_iteration_s(result) < mean_iteration_s(*fastest)) fastest = &result;
    }
    for (const auto& [variant, fastest] : best) fastest->best = true;
}

std::uint32_t iterations_of(const Lowered& training) {
    const auto asked = static_cast<std::uint32_t>(training.plan.iterations);
    const std::uint32_t window = training.averaged;
    // Twice the window is needed to see whether it is steady, even if fewer iterations are requested and the window has
    // several. One more iteration follows: without it, nothing of a next iteration would overlap with the measured one.
    const bool all = training.iterations_differ() || training.plan.independent_updates();
    if (!training.cluster.faults.empty() && !training.plan.independent_updates()) return asked == 1 ? 1 : asked + 1;
    const std::uint32_t least = all ? window + 1 : 2 * window + 1;
    // The first iterations wait for no exchange. If more than one is allowed to be in flight, c being the computation
    // between two exchanges and T an exchange, so do the next ones until delay / (1 - c/T) iterations have passed.
    constexpr std::uint32_t many = 8;
    const auto delay = static_cast<std::uint32_t>(training.plan.exchange_delay);
    const std::uint32_t before = training.plan.exchange_delay > training.plan.local_steps ? many * delay : delay;
    const std::uint32_t iterations = window == 1 && delay == 0 ? asked : std::max(asked, least + before);
    return iterations == 1 ? 1 : iterations + 1;
}

ReplayedIteration replay_iteration(const Lowered& training, const Watch& watch, const ReplayOptions& recorded) {
    return replay_iteration(training, build_iteration(training), watch, recorded);
}

ReplayedIteration replay_iteration(const Lowered& training, TaskGraph graph, const Watch& watch,
                                   const ReplayOptions& recorded) {
    const Plan& plan = training.plan;
    ReplayedIteration replayed;
    replayed.graph = std::move(graph);
    const std::uint32_t window = training.averaged;
    ReplayOptions options = recorded;
    options.iterations = iterations_of(training);
    options.measured = options.iterations == 1 ? 0 : options.iterations - 2;
    options.averaged = window;
    FidelityChoice fidelity = choose_fidelity(plan.fidelity, training.cluster, replayed.graph, options.messages);
    options.fold = fidelity.folds;
    options.average = plan.fidelity == Fidelity::averaged;
    replayed.averaged = window;
    replayed.measured = options.measured;
    replayed.timeline = watched_replay(training.cluster, replayed.graph, options, watch);
    replayed.timeline.folding_error_s =
        iteration_error_s(replayed.graph, replayed.timeline, window, replayed.timeline.folding_error_s);
    replayed.folded = folded_of(std::move(fidelity), replayed.timeline);
    replayed.time = plan.independent_updates() ? measure_workers(replayed.graph, replayed.timeline)
                                               : measure(replayed.graph, replayed.timeline, window);
    if (training.cluster.has_power()) replayed.time.activity = activity_of(replayed.graph, replayed.timeline, window);
    return replayed;
}

ReplayedIteration replay_representatives(const Lowered& training, const Watch& watch) {
    const Fidelity fidelity = training.plan.fidelity;
    if (fidelity == Fidelity::message || training.cluster.native || !training.cluster.faults.empty())
        return replay_iteration(training, watch);
    const auto choice_of = [&](const TaskGraph& graph) { return choose_fidelity(fidelity, training.cluster, graph); };
    // A graph of representatives can only be folded.
    const auto replay_graph = [&](const Lowered& some, TaskGraph graph) {
        if (graph.images() > 1 && !choice_of(graph).folds) return replay_iteration(some, watch);
        return replay_iteration(some, std::move(graph), watch);
    };
    const auto smallest_graph = [](const Lowered& some) {
        std::optional<TaskGraph> few = representatives_of(some);
        return few ? std::move(*few) : build_iteration(some);
    };
    const auto replay_fewer = [&](const Lowered& some) { return replay_graph(some, smallest_graph(some)); };
    if (always_folds(fidelity))
        if (std::optional<ReplayedIteration> folded = fold_micro_batches(training, replay_fewer))
            return std::move(*folded);
    TaskGraph graph = smallest_graph(training);
    if (fidelity == Fidelity::automatic)
        if (FidelityChoice choice = choice_of(graph); choice.folds)
            if (std::optional<ReplayedIteration> folded = fold_micro_batches(training, replay_fewer)) {
                folded->folded.choice = std::move(choice);
                return std::move(*folded);
            }
    return replay_graph(training, std::move(graph));
}

Result simulate(const Lowered& training, const Watch& watch) {
    return result_of(training, replay_representatives(training, watch), watch);
}

namespace {

Iteration iteration_with(const Lowered& fewer, const Watch& watch) {
    const ReplayedIteration replayed = replay_representatives(fewer, watch);
    const std::optional<Energy> energy =
        energy_of(fewer.cluster, replayed.graph, replayed.timeline.links, replayed.time);
    return {replayed.time.iteration_s, energy ? energy->total_J() : 0};
}

}  // namespace

Result result_of(const Lowered& training, const ReplayedIteration& whole, const Watch& watch) {
    const Cluster& cluster = training.cluster;
    const Model& model = training.model;
    const Plan& plan = training.plan;
    const Breakdown& time = whole.time;
    const Timeline& timeline = whole.timeline;
    const bool alone = plan.ranks == 1 && !plan.noise.any() && !training.documents_vary() && cluster.faults.empty();
    std::vector<Reference> references;
    if (!alone) references = references_of(training);
    const bool comparable =
        std::ranges::all_of(references, [](const Reference& each) { return holds_model(each.one); });
    const double single_s = alone || !comparable ? time.iteration_s : reference_s(references, watch);

    Result result;
    result.workload = model.name;
    result.ranks = plan.ranks;
    result.samples = plan.used_batch();
    result.fabric = fabric_of(cluster);
    result.transport = transport_of(cluster);
    const bool served = training.served();
    result.exchange = served ? served_allreduce : plan.exchange == ExchangeKind::gossip ? "gossip" : "allreduce";
    if (plan.exchange == ExchangeKind::allreduce)
        result.algorithm =
            training.reductions.empty() ? plan.algorithm.name : algorithm_label(training.first_exchanges());
    if (plan.parallelism.sharding != Sharding::none) result.algorithm = shard_algorithms(training);
    if (!served) result.overlay = overlay_of(plan.algorithm);
    result.parallelism = plan.parallelism;
    result.time = time;
    if (!cluster.faults.empty() && !plan.independent_updates())
        result.iteration_times_s = iteration_times_s(whole.graph, timeline);
    add_slowest(result, whole.graph, plan.noise);
    result.balance =
        work_balance(training, whole.measured + 1 - std::min(whole.averaged, whole.measured + 1), whole.measured);
    if (time.iteration_s > 0)
        result.throughput_samples_per_s = static_cast<double>(plan.used_batch()) / time.iteration_s;
    result.scaling = plan.scaling;
    if (comparable) result.scaling_efficiency = scaling_efficiency(plan, time.iteration_s, single_s);
    if (plan.relaxed() && time.iteration_s > 0) result.busy_share = time.compute_s / time.iteration_s;
    result.kinds = kinds_of(training);
    if (plan.independent_updates()) result.updates = updates_of(whole.graph, timeline);
    result.utilisation = utilisation_of(training, time.iteration_s);
    result.messages = timeline.messages;
    result.folded = whole.folded;
    result.bytes_sent = timeline.bytes_sent;
    result.most_bytes_sent_by_rank = most(timeline.sent_by, plan.ranks);
    result.gradient_bytes = model.gradient_bytes();
    result.closed_form = closed_form(training);
    result.cost = cost_of(cluster, whole.graph, plan.ranks, time.iteration_s);
    // Devices and hosts of workers that do not wait are not busy in one window.
    // Neither are they of one power where nodes are of several kinds.
    const bool powers = !plan.independent_updates() && training.kinds.empty();
    if (powers) result.energy = energy_of(cluster, whole.graph, timeline.links, time);
    const std::optional<double> staleness =
        result.updates ? std::optional(result.updates->mean_staleness) : std::nullopt;
    result.run = whole_run(training, {time.iteration_s, result.cost, result.energy, staleness,
                                      [&](const Lowered& fewer) { return iteration_with(fewer, watch); }});
    result.memory = memory_of(training);
    result.links = busiest(cluster, timeline.links, time.sending_s(timeline.links));
    result.limited_by = limit_of(training, time, timeline.links);
    if (comparable)
        result.notes = scaling_notes(training, tightest_of(references, training), result.scaling_efficiency);
    if (result.energy)
        if (std::string note = result.energy->note(); !note.empty()) result.notes.push_back(std::move(note));
    for (std::string& note : compute_notes(training)) result.notes.push_back(std::move(note));
    if (std::string note = kinds_note(training); !note.empty()) result.notes.push_back(std::move(note));
    // The FLOP of free layers count, though they take no time.
    Device peaked = cluster.device;
    if (!training.kinds.empty()) peaked.name = devices_text(training);
    if (std::string note = above_peak_note(result.utilisation, peaked); !note.empty() && plan.free_layers.empty())
        result.notes.push_back(std::move(note));
    if (exchanges_fall_behind(training, whole))
        result.notes.push_back(
            "exchanges fall behind: the measured iteration is too short; raise `training.iterations`");
    if (result.updates && workers_drift_apart(training, whole.graph, *result.updates))
        result.notes.push_back(
            "workers still drift apart: the bound of their staleness is not reached; raise `training.iterations`");
    if (plan.independent_updates() && cluster.has_power())
        result.notes.push_back("energy is left out: workers with updates of their own have no common iteration");
    if (!training.kinds.empty() && cluster.has_power())
        result.notes.push_back("energy is left out: ranks are on devices of several kinds");
    if (!training.kinds.empty() && !result.cost.cost && some_price(cluster))
        result.notes.push_back("costs are left out: only some kinds of nodes have a `price_per_hour`");
    if (result.updates && result.updates->few)
        result.notes.push_back(
            "some worker has fewer than two updates while all of them run: more `iterations` say more");
    for (std::string& note : fault_notes(cluster, timeline.iteration_end_s.back(), result.iteration_times_s))
        result.notes.push_back(std::move(note));
    if (std::string note = host_bound_note(training); !note.empty()) result.notes.push_back(std::move(note));
    if (std::string note = why_no_run(training, staleness); !note.empty()) result.notes.push_back(std::move(note));
    if (result.run)
        if (std::string note = failures_note(training, result.cost.nodes, result.run->failing); !note.empty())
            result.notes.push_back(std::move(note));
    for (std::string& note : nominal_link_notes(training)) result.notes.push_back(std::move(note));
    for (std::string& note : unused_ways_note(cluster, timeline.links)) result.notes.push_back(std::move(note));
    return result;
}

}  // namespace syncline
