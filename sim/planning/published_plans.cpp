#include "sim/planning/published_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "sim/lowering/feasibility.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/parallelism_text.hpp"
#include "sim/planning/answer.hpp"
#include "sim/planning/candidates.hpp"

namespace syncline::planning {

namespace {

/// Returns the number of microbatches of about `size` samples that a replica's samples are divided into.
std::int64_t micro_batches_of(std::int64_t samples, std::int64_t size) {
    size = std::clamp<std::int64_t>(size, 1, samples);
    while (samples % size != 0) --size;
    return samples / size;
}

/// Returns the kind with this name, or none.
Sharding sharding_of(const std::string& name) {
    for (const Sharding kind : {Sharding::optimizer, Sharding::gradients, Sharding::parameters})
        if (name == name_of(kind)) return kind;
    return Sharding::none;
}

/// Returns the run's values of axes, by their keys.
std::map<std::string, std::int64_t> values_of(const PublishedRun& run, std::int64_t batch, std::int64_t ranks) {
    const std::int64_t of_replica = run.rows * run.context * run.stages;
    const std::int64_t run_replicas = std::max<std::int64_t>(1, run.ranks / of_replica);
    const std::int64_t size = run.batch / run_replicas / std::max<std::int64_t>(1, run.micro_batches);
    const bool turns = run.virtual_stages > 1;
    return {{"model", run.rows},
            {"context.ranks", run.context},
            {"pipeline.stages", run.stages},
            {"pipeline.micro_batches", micro_batches_of(batch / (ranks / of_replica), size)},
            {"pipeline.schedule",
             static_cast<std::int64_t>(turns ? PipelineSchedule::interleaved : PipelineSchedule::one_f_one_b)},
            {"pipeline.virtual_stages", run.virtual_stages},
            {"sequence", run.sequence ? 1 : 0},
            {"experts.model", run.expert_rows == run.rows ? 0 : run.expert_rows},
            {"experts.ranks", run.expert_ranks},
            {"sharding", static_cast<std::int64_t>(sharding_of(run.sharding))}};
}

/// Returns nothing if the plan cannot be made.
std::optional<Choice> choice_of(const PublishedRun& run, const Space& space, Plan plan) {
    const std::int64_t of_replica = run.rows * run.context * run.stages;
    if (space.ranks % of_replica != 0 || space.batch % (space.ranks / of_replica) != 0) return std::nullopt;
    const std::map<std::string, std::int64_t> values = values_of(run, space.batch, space.ranks);
    Choice choice;
    for (const Axis& axis : axes()) {
        const auto value = values.find(axis.key);
        const std::vector<std::int64_t> possible = axis.choices(space, plan);
        if (value == values.end() && possible.empty()) return std::nullopt;
        if (value != values.end() && is_written(space, axis.key) && value->second != axis.read(plan))
            return std::nullopt;
        choice.push_back(value == values.end() ? possible.front() : value->second);
        axis.apply(plan, choice.back());
    }
    if (space.replicas > 0 && plan.replicas() != space.replicas) return std::nullopt;
    return choice;
}

}  // namespace

std::vector<PublishedPlan> published_plans(const std::vector<PublishedRun>& runs, const Cluster& cluster,
                                           const Model& model, const Plan& base, const OpenPlan& open) {
    constexpr double same = 0.05;
    const Space space = space_of(cluster, model, base, open);
    const std::string generation = generation_of(cluster.device.name);
    const auto parameters = static_cast<double>(model.parameters());
    std::vector<PublishedPlan> plans;
    for (const PublishedRun& run : runs) {
        if (generation.empty() || generation_of(run.device) != generation) continue;
        if ((run.experts > 0) != (most_experts(model) > 0)) continue;
        if (std::abs(static_cast<double>(run.parameters) - parameters) > same * parameters) continue;
        if (const std::optional<Choice> choice = choice_of(run, space, base)) plans.push_back({run, *choice});
    }
    std::ranges::stable_sort(plans, {}, [&](const PublishedPlan& plan) {
        return std::abs(std::log(static_cast<double>(plan.run.ranks) / static_cast<double>(base.ranks)));
    });
    std::vector<PublishedPlan> different;
    for (const PublishedPlan& plan : plans)
        if (std::ranges::none_of(different, [&](const auto& one) { return same_split(one.choice, plan.choice); }))
            different.push_back(plan);
    return different;
}

std::vector<Beside> beside(const std::vector<PublishedPlan>& plans, const Cluster& cluster, const Model& model,
                           const Plan& base, const OpenPlan& open, const Found& found, const FoundPlan& best) {
    std::vector<Beside> all;
    for (const PublishedPlan& published : plans) {
        const auto alike = [&](const FoundPlan& plan) { return same_split(plan.choice, published.choice); };
        const auto fitting = std::ranges::find_if(found.plans, alike);
        const bool fits = fitting != found.plans.end();
        const Choice& choice = fits ? fitting->choice : published.choice;
        const Plan plan = settled_plan(base, open.batch, choice);
        if (!fits && !judge(cluster, model, plan).complaints.empty()) continue;
        const Lowered training = lower(cluster, model, plan);
        Beside one{published.run,
                   short_words(training.plan),
                   text_of(choice, base),
                   recomputation_of(choice, base),
                   fits,
                   fits && best.layers.empty() && same_split(choice, best.choice),
                   memory_of(training)};
        if (fits) one.shares = shares_of(training);
        all.push_back(std::move(one));
    }
    std::ranges::stable_sort(all, {}, [](const Beside& one) { return std::pair(!one.fits, one.shares.total_s()); });
    return all;
}

std::string words_of(const Beside& plan, const TimeShares& best) {
    if (!plan.fits)
        return fmt::format("does not fit: {} of {}", text::bytes(static_cast<std::uint64_t>(plan.memory.total_bytes())),
                           text::bytes(static_cast<std::uint64_t>(*plan.memory.device_bytes)));
    if (plan.best) return "is the best plan";
    constexpr double least = 0.005;  // of the best time: what is told
    const double best_s = best.total_s(), longer = plan.shares.total_s() / best_s - 1;
    std::string reasons;
    const auto reason = [&](const char* what, double own_s, double its_s) {
        if (std::abs(own_s - its_s) < least * best_s) return;
        reasons += fmt::format("{}{} {} {}", reasons.empty() ? ": " : ", ", text::seconds(std::abs(own_s - its_s)),
                               own_s > its_s ? "more" : "less", what);
    };
    reason("computation", plan.shares.computation_s, best.computation_s);
    reason("bubble", plan.shares.bubble_s, best.bubble_s);
    reason("exposed exchanges", plan.shares.exchanges_s, best.exchanges_s);
    return fmt::format("~{}, {:.1f} % {}{}", text::seconds(plan.shares.total_s()), 100 * std::abs(longer),
                       longer < 0 ? "faster" : "slower", reasons);
}

}  // namespace syncline::planning
