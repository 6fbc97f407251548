#include "sim/planning/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "sim/explain/what_if.hpp"
#include "sim/iteration/forecast.hpp"
#include "sim/output/parallelism_text.hpp"
#include "sim/planning/published_plans.hpp"
#include "sim/planning/wire_costs.hpp"
#include "sim/workload/sample_tokens.hpp"

namespace syncline::planning {

namespace {

constexpr double gains_something = 0.95;

/// A change whose effect is told; `resource` says what bounds the plan if it gains the most, and is empty if the change
/// is a loss.
struct Tried {
    const char* change;
    const char* words;
    const char* resource;
};

constexpr std::array tried{
    Tried{"device x2", "FLOP/s x2", "matrix products"},   Tried{"memory x2", "memory x2", "memory bandwidth"},
    Tried{"link:node x2", "NVLink x2", "links in nodes"}, Tried{"link:nic x2", "ports x2", "ports"},
    Tried{"link:fabric x2", "fabric x2", "fabric"},       Tried{"link:fabric x0.5", "fabric 2:1", ""},
    Tried{"latency x0.5", "latency /2", "latency"},
};

double forecast_s(const Lowered& training) {
    WireCosts wires(training.cluster, training.places);
    return forecast(training, wires).time_s;
}

std::vector<Effect> effects_of(const Lowered& training) {
    const double base_s = forecast_s(training);
    std::vector<Effect> effects;
    for (const Tried& one : tried) {
        try {
            const Cluster changed = changed_cluster(training.cluster, parse_change(one.change));
            effects.push_back(
                {one.change, one.words, forecast_s(lower(changed, training.model, training.plan)) / base_s});
        } catch (const std::invalid_argument&) {  // the cluster has no such resource
        }
    }
    return effects;
}

std::string limit(const std::vector<Effect>& effects) {
    std::string resource;
    double least = gains_something;
    for (const Effect& effect : effects)
        for (const Tried& one : tried)
            if (effect.change == one.change && *one.resource != '\0' && effect.factor < least) {
                resource = one.resource;
                least = effect.factor;
            }
    return resource;
}

/// Returns the energy of an iteration whose computation is as long as forecast. Links count without traffic.
std::optional<Energy> forecast_energy(const Lowered& training, std::int64_t nodes, double iteration_s) {
    // Devices of several kinds are busy for different times.
    if (!training.cluster.has_power() || !training.kinds.empty()) return std::nullopt;
    std::uint32_t wired = 0;
    for (const Place& place : training.places) wired = std::max(wired, place.node + 1);
    const TimeShares shares = shares_of(training);
    const auto ranks = static_cast<double>(training.plan.ranks);
    const double compute_s = std::min(shares.computation_s, iteration_s);
    const double exposed_s = std::min(shares.exchanges_s, iteration_s - compute_s);
    return energy_of(training.cluster, {iteration_s, nodes, wired, {ranks * compute_s, ranks * exposed_s, 0}, {}});
}

/// Returns whether two plans are alike for a planner: time and memory.
bool twins(const FoundPlan& one, const FoundPlan& other) {
    constexpr double same = 1e-3;
    const auto alike = [](double a, double b) { return std::abs(a - b) <= same * a; };
    const auto time_s = [](const FoundPlan& plan) { return plan.simulated_s.value_or(plan.estimated_s); };
    return alike(time_s(one), time_s(other)) && alike(one.memory.total_bytes(), other.memory.total_bytes());
}

}  // namespace

std::string short_words(const Plan& plan) {
    const Parallelism& parallelism = plan.parallelism;
    const Pipeline& pipeline = parallelism.pipeline;
    const Layout& layout = parallelism.layout;
    std::string words;
    const auto size = [&](const char* name, std::int64_t number) {
        if (number > 1) words += fmt::format("{}{} ", name, number);
    };
    size("TP", layout.rows);
    size("PP", pipeline.stages);
    if (pipeline.virtual_stages > 1) words.replace(words.size() - 1, 1, fmt::format("x{} ", pipeline.virtual_stages));
    size("CP", layout.cells());
    if (layout.context > 1 && parallelism.context_exchange == ContextExchange::ulysses)
        words.replace(words.size() - 1, 1, "-ulysses ");
    size("EP", parallelism.experts.ranks);
    words += fmt::format("DP{} mbs{:g}", plan.replicas(),
                         static_cast<double>(plan.batch_per_rank) / static_cast<double>(pipeline.micro_batches));
    if (!pipeline.layers.empty()) words += " layers";
    if (pipeline.stages > 1 && pipeline.computes_weights_apart()) words += " " + schedule_of(parallelism);
    if (parallelism.sequence) words += " SP";
    const std::array zero{"", " ZeRO-1", " ZeRO-2", " ZeRO-3"};
    words += zero[static_cast<std::size_t>(parallelism.sharding)];
    const std::array recomputed{"", " selective", " operators", " full"};
    if (parallelism.shard_ranks) words += " in nodes";
    if (parallelism.model_chunks > 1) words += fmt::format(" chunks{}", parallelism.model_chunks);
    if (parallelism.gather == Gather::before_forward) words += " gather-before-forward";
    if (plan.recomputation != Recomputation::none)
        words += std::string(recomputed[static_cast<std::size_t>(plan.recomputation)]) + " recomputation";
    return words;
}

std::vector<Answer> answers(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open,
                            const Found& found, std::size_t most, const std::vector<PublishedRun>& published) {
    // They are language models, and were predicted with measured rates of kernels.
    const bool comparable =
        tokens_per_sample(model) && kind_used(base.compute, model.name, cluster.device) == ComputeKind::tables;
    const Spread spread = comparable ? spread_of(published, cluster.device, model, base.ranks) : Spread{};
    std::vector<FoundPlan> plans = found.plans;
    // Estimates of plans that were not simulated, such as those that are too large, are off by as much as the best
    // simulated plan's.
    const bool some = !plans.empty() && plans.front().simulated_s;
    const double off = some ? *plans.front().simulated_s / plans.front().estimated_s : 1;
    const auto time_s = [off](const FoundPlan& plan) { return plan.simulated_s.value_or(off * plan.estimated_s); };
    std::ranges::stable_sort(plans, {}, time_s);
    std::vector<Answer> all;
    for (const FoundPlan& plan : plans) {
        if (all.size() == most) break;
        if (std::ranges::any_of(all, [&](const Answer& one) { return twins(one.found, plan); })) continue;
        const Lowered training = lower(cluster, model, settled_plan(base, open.batch, plan));
        Answer answer;
        answer.platform = cluster.name;
        answer.ranks = base.ranks;
        answer.batch = open.batch;
        answer.found = plan;
        answer.rank = static_cast<std::int64_t>(all.size()) + 1;
        answer.words = short_words(training.plan);
        answer.simulated = plan.simulated_s.has_value();
        answer.iteration_s = time_s(plan);
        answer.utilisation = utilisation_of(training, answer.iteration_s);
        std::set<std::uint32_t> nodes;
        for (const Place& place : training.places) nodes.insert(place.node);
        answer.cost = cost_of(training.cluster, nodes, base.ranks, answer.iteration_s);
        answer.energy = forecast_energy(training, answer.cost.nodes, answer.iteration_s);
        answer.published = spread;
        const double longer = answer.iteration_s / plan.estimated_s;
        answer.run =
            whole_run(training, {answer.iteration_s, answer.cost, answer.energy, {}, [&](const Lowered& fewer) {
                                     const double seconds = longer * forecast_s(fewer);
                                     std::set<std::uint32_t> used;
                                     for (const Place& place : fewer.places) used.insert(place.node);
                                     const std::optional<Energy> energy =
                                         forecast_energy(fewer, static_cast<std::int64_t>(used.size()), seconds);
                                     return Iteration{seconds, energy ? energy->total_J() : 0};
                                 }});
        if (answer.run) answer.failures_note = failures_note(training, answer.cost.nodes, answer.run->failing);
        if (all.empty()) {
            answer.effects = effects_of(training);
            answer.limited_by = limit(answer.effects);
            answer.shares = shares_of(training);
            answer.beside =
                beside(published_plans(published, cluster, model, base, open), cluster, model, base, open, found, plan);
        }
        all.push_back(std::move(answer));
    }
    return all;
}

}  // namespace syncline::planning
