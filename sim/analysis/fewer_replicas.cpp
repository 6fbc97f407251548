#include "sim/analysis/fewer_replicas.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/feasibility.hpp"

namespace syncline {

namespace {

std::int64_t divided_up(std::int64_t number, std::int64_t by) {
    return (number + by - 1) / by;
}

/// Returns the plan lowered; null if it is not feasible, or does not fit into memory, where that `matters`.
std::shared_ptr<const Lowered> judged(const Lowered& training, Plan plan, bool matters) {
    if (!settle(plan, {}).empty()) return nullptr;
    Feasibility found = judge(training.cluster, training.model, plan);
    if (!found.complaints.empty()) return nullptr;
    if (!found.lowered)
        found.lowered = std::make_shared<const Lowered>(lower(training.cluster, training.model, std::move(plan)));
    return matters && !memory_of(*found.lowered).fits() ? nullptr : found.lowered;
}

}  // namespace

Plan with_replicas(const Plan& plan, std::int64_t replicas) {
    Plan fewer = plan;
    fewer.run.to_accuracy.clear();  // the batch may be rounded up
    fewer.ranks = plan.ranks / plan.replicas() * replicas;
    if (!fewer.placement.devices.empty())
        fewer.placement.devices.resize(std::min(fewer.placement.devices.size(), static_cast<std::size_t>(fewer.ranks)));
    if (plan.run.checkpoint.repairs.elastic == Elastic::smaller_batch) return fewer;
    Pipeline& pipeline = fewer.parallelism.pipeline;
    if (pipeline.stages == 1 && pipeline.micro_batches == 1) {
        fewer.batch_per_rank = divided_up(plan.global_batch(), replicas);
        return fewer;
    }
    const std::int64_t samples = plan.batch_per_rank / pipeline.micro_batches;
    pipeline.micro_batches = divided_up(pipeline.micro_batches * plan.replicas(), replicas);
    if (pipeline.schedule == PipelineSchedule::interleaved)
        pipeline.micro_batches = divided_up(pipeline.micro_batches, pipeline.stages) * pipeline.stages;
    fewer.batch_per_rank = samples * pipeline.micro_batches;
    return fewer;
}

FewerReplicas::FewerReplicas(const Lowered& training, IterationOf iteration_of, double idle_W)
    : training_(training), iteration_of_(std::move(iteration_of)), idle_W_(idle_W), all_(training.plan.replicas()) {
    std::set<std::uint32_t> nodes;
    for (const Place& place : training.places) nodes.insert(place.node);
    nodes_ = static_cast<std::int64_t>(nodes.size());
    ranks_of_node_ = divided_up(training.plan.ranks, nodes_);
}

std::int64_t FewerReplicas::replicas(std::int64_t missing) const {
    const std::int64_t ranks = std::max<std::int64_t>(0, nodes_ - missing) * ranks_of_node_;
    return allowed(std::min(all_, ranks / (training_.plan.ranks / all_)));
}

std::optional<TrainingPace> FewerReplicas::pace(std::int64_t missing) const {
    const auto known = paces_.find(missing);
    if (known != paces_.end()) return known->second;
    std::optional<TrainingPace> pace;
    if (const std::int64_t left = replicas(missing); left > 0) {
        const auto share = static_cast<double>(left) / static_cast<double>(all_);
        const bool whole = training_.plan.run.checkpoint.repairs.elastic == Elastic::same_batch;
        const Iteration one = iteration(left);
        const double iterations = whole ? 1 : 1 / share;
        const double idle_J = idle_W_ * nodes_of(left) * one.seconds;
        pace = TrainingPace{iterations * one.seconds, share, iterations * std::max(0.0, one.energy_J - idle_J)};
    }
    return paces_[missing] = pace;
}

std::map<std::int64_t, double> FewerReplicas::iterations_s() const {
    std::map<std::int64_t, double> times;
    for (const auto& [missing, pace] : paces_)
        if (pace) times[replicas(missing)] = pace->iteration_s;
    return times;
}

double FewerReplicas::nodes_of(std::int64_t replicas) const {
    return static_cast<double>(divided_up(replicas * (training_.plan.ranks / all_), ranks_of_node_));
}

/// Returns the lowered plan with so many replicas; null if it is not allowed.
const Lowered* FewerReplicas::lowered(std::int64_t replicas) const {
    if (replicas == all_) return &training_;
    const auto known = lowered_.find(replicas);
    if (known != lowered_.end()) return known->second.get();
    std::shared_ptr<const Lowered>& made = lowered_[replicas];
    const Plan plan = with_replicas(training_.plan, replicas);
    const bool matters = memory_of(training_).fits();
    made = judged(training_, plan, matters);
    // What is too large for one pass takes several, none larger than the plan's.
    if (!made && plan.batch_per_rank > training_.plan.batch_per_rank && plan.parallelism.pipeline.micro_batches == 1) {
        Plan passes = plan;
        std::int64_t& number = passes.parallelism.pipeline.micro_batches;
        number = divided_up(plan.batch_per_rank, training_.plan.batch_per_rank);
        passes.batch_per_rank = number * divided_up(plan.batch_per_rank, number);
        made = judged(training_, passes, matters);
    }
    return made.get();
}

std::int64_t FewerReplicas::allowed(std::int64_t replicas) const {
    while (replicas > 0 && !lowered(replicas)) --replicas;
    return replicas;
}

const Iteration& FewerReplicas::simulated(std::int64_t replicas) const {
    const auto known = simulated_.find(replicas);
    if (known != simulated_.end()) return known->second;
    return simulated_[replicas] = iteration_of_(*lowered(replicas));
}

Iteration FewerReplicas::iteration(std::int64_t replicas) const {
    constexpr std::int64_t all_simulated = 4;
    const std::int64_t lost = all_ - replicas;
    if (lost <= all_simulated) return simulated(replicas);
    const auto before = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(lost)));
    const std::int64_t many = before == lost ? replicas : allowed(all_ - before);
    const std::int64_t few = before == lost ? replicas : allowed(std::max<std::int64_t>(0, all_ - 2 * before));
    if (few == 0 || few == replicas || many == replicas) return simulated(replicas);
    const auto samples = [&](std::int64_t count) { return static_cast<double>(lowered(count)->plan.batch_per_rank); };
    const Iteration &short_one = simulated(many), &long_one = simulated(few);
    const double part = samples(few) == samples(many)
                            ? static_cast<double>(many - replicas) / static_cast<double>(many - few)
                            : (samples(replicas) - samples(many)) / (samples(few) - samples(many));
    return {short_one.seconds + part * (long_one.seconds - short_one.seconds),
            short_one.energy_J + part * (long_one.energy_J - short_one.energy_J)};
}

}  // namespace syncline
