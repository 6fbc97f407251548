#include "sim/planning/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/base/units.hpp"
#include "sim/iteration/forecast.hpp"
#include "sim/planning/candidates.hpp"
#include "sim/planning/divisions.hpp"
#include "sim/planning/remedies.hpp"
#include "sim/planning/wire_costs.hpp"
#include "sim/process/isolated.hpp"
#include "sim/process/pool.hpp"

namespace syncline::planning {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double look_again_s = 0.2;  // how late an interrupt may be seen

/// Returns the plan as the search simulates it.
Plan simulated(const Cluster& cluster, Plan plan) {
    constexpr std::int64_t enough = 2;  // the second iteration already follows another one
    if (!plan.noise.varies()) plan.iterations = std::min(plan.iterations, enough);
    const bool varies = plan.noise.lateness().varies();
    if (!always_folds(plan.fidelity)) plan.fidelity = Fidelity::folded;
    if (cluster.native || varies) plan.fidelity = Fidelity::message;
    return plan;
}

/// Simulates plans in separate processes and sets their times.
class Simulations {
public:
    Simulations(const Cluster& cluster, const Model& model, const Plan& base, std::int64_t batch, const Search& how)
        : cluster_(cluster), model_(model), base_(base), batch_(batch), how_(how) {}

    /// `most_bytes` is the memory of the largest of them.
    void run(const std::vector<FoundPlan*>& plans, double most_bytes) {
        constexpr double share = 0.8;  // as excess() has it
        const double together = std::floor(std::max(1.0, share * how_.memory_bytes / most_bytes));
        Pool pool(static_cast<std::size_t>(std::min(static_cast<double>(how_.jobs), together)), std::nullopt);
        for (std::size_t next = 0; next < plans.size() || !pool.idle();) {
            for (; next < plans.size() && !pool.full(); ++next) {
                if (how_.known)
                    if (const auto known = how_.known->find(plans[next]->words()); known != how_.known->end()) {
                        set(*plans[next], known->second);
                        continue;
                    }
                pool.start(std::to_string(next), [this, plan = plans[next]] { return time_of(*plan); });
            }
            if (how_.watch) how_.watch(Search::Step::simulating, done_, how_.simulated);
            if (pool.idle()) continue;
            for (const Ended& ended : pool.ended(look_again_s)) {
                FoundPlan& plan = *plans[std::stoul(ended.id)];
                if (!ended.done) throw ReplayError(fmt::format("{} cannot be simulated: {}", plan.words(), ended.text));
                char* end = nullptr;
                const double seconds = std::strtod(ended.text.c_str(), &end);
                const Simulated simulated{seconds, std::strtod(end, nullptr)};
                if (how_.known) how_.known->emplace(plan.words(), simulated);
                set(plan, simulated);
            }
        }
    }

private:
    void set(FoundPlan& plan, const Simulated& simulated) {
        plan.simulated_s = simulated.iteration_s;
        plan.simulated_messages = simulated.messages;
        ++done_;
    }

    /// Returns the iteration's time and the number of messages. Runs in a process of its own.
    std::string time_of(const FoundPlan& plan) const {
        isolated_already();
        const Lowered training = lower(cluster_, model_, simulated(cluster_, settled_plan(base_, batch_, plan)));
        const ReplayedIteration replayed = replay_representatives(training);
        const auto simulated = static_cast<double>(replayed.timeline.messages - replayed.timeline.messages_folded);
        // Folded microbatches need two replays.
        return fmt::format("{} {}", replayed.time.iteration_s,
                           (replayed.folded.micro_batches_folded > 0 ? 2 : 1) * simulated);
    }

    const Cluster& cluster_;
    const Model& model_;
    const Plan& base_;
    const std::int64_t batch_;
    const Search& how_;
    std::size_t done_ = 0;
};

/// Judges the plans that are left by the simulations so far.
class Horizon {
public:
    void add(const FoundPlan& plan) {
        const double ratio = *plan.simulated_s / plan.estimated_s;
        most_ = best_s_ == never ? ratio : std::max(most_, ratio);
        ratio_ = best_s_ == never ? ratio : std::min(ratio_, ratio);
        best_s_ = std::min(best_s_, *plan.simulated_s);
        ++simulated_;
    }
    double best_s() const { return best_s_; }
    double ratio() const { return ratio_; }
    bool may_be_better(const FoundPlan& plan) const { return !plan.simulated_s && plan.least_s < best_s_; }
    bool is_likely_better(const FoundPlan& plan) const {
        return may_be_better(plan) && (1 - margin()) * ratio_ * plan.estimated_s < best_s_;
    }

private:
    double margin() const {
        if (simulated_ < Search::round) return Search::most_margin;
        return std::clamp(Search::spreads * (1 - ratio_ / most_), Search::least_margin, Search::most_margin);
    }

    double best_s_ = never;        ///< the shortest simulated iteration
    double ratio_ = 1, most_ = 1;  ///< the smallest and the largest of simulated to estimated times
    std::size_t simulated_ = 0;
};

/// Time and memory of a plan's simulation in the search, and of its own run afterwards.
class Sizes {
public:
    /// Without `runs` there is no run.
    Sizes(const Cluster& cluster, const Model& model, Plan plan, bool runs) {
        Lowered training = lower(cluster, model, std::move(plan));
        if (runs) run_ = estimate(training);
        training.plan = simulated(cluster, std::move(training.plan));
        simulation_ = estimate(training);
    }

    const Estimate& simulation() const { return simulation_; }

    /// Returns why they are too large; empty: they are not. `share` is that of the simulation's messages that count.
    std::string excess(double left_s, double memory_bytes, double share = 1) const {
        for (const Estimate* one : {&run_, &simulation_})
            if (std::string reason = syncline::excess(*one, memory_bytes); !reason.empty()) return reason;
        const double together_s = share * simulation_.time_s + run_.time_s;
        if (together_s <= left_s) return "";
        return fmt::format("its simulation and its run would take about {}",
                           format_roughly(together_s, Dimension::seconds));
    }

private:
    Estimate simulation_, run_;
};

/// Adds plans with better divisions of layers beside those that are estimated best; they are sorted by their estimates.
/// Which of the two is better is known once both are simulated.
void divide_layers(const Cluster& cluster, const Model& model, const Plan& base, std::int64_t batch, Prices& prices,
                   std::vector<FoundPlan>& plans) {
    std::size_t looked_at = 0;
    std::vector<FoundPlan> divided;
    const double most_s = plans.empty() ? 0 : plans.front().estimated_s * (1 + Search::may_gain);
    for (const FoundPlan& plan : plans) {
        if (plan.estimated_s > most_s || looked_at == Search::most_divided) break;
        const Plan settled = settled_plan(base, batch, plan);
        if (settled.parallelism.pipeline.virtual_stages == 1) continue;
        ++looked_at;
        std::optional<Division> better = better_division(cluster, model, settled, prices, plan.estimated_s);
        if (!better) continue;
        FoundPlan& other = divided.emplace_back(plan);
        other.undivided_s = plan.estimated_s;
        other.estimated_s = better->expected.time_s;
        other.least_s = better->expected.least_s;
        other.memory = better->memory;
        other.layers = std::move(better->layers);
        other.text = planning::text_of(plan.choice, base, other.layers);
    }
    plans.insert(plans.end(), divided.begin(), divided.end());
}

/// Keeps the first of two plans that differ only in their division of the layers.
void drop_second_divisions(std::vector<FoundPlan>& plans) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const auto twin =
            std::find_if(plans.begin() + static_cast<std::ptrdiff_t>(i) + 1, plans.end(), [&](const FoundPlan& other) {
                return other.layers.empty() != plans[i].layers.empty() && other.choice == plans[i].choice;
            });
        if (twin != plans.end()) plans.erase(twin);
    }
}

}  // namespace

std::string FoundPlan::words() const {
    return words_of(text, recomputation);
}

Plan settled_plan(const Plan& base, std::int64_t batch, const Choice& choice) {
    Plan plan = plan_of(choice, base);
    OpenPlan open;
    open.batch = batch;
    settle(plan, open);
    return plan;
}

Plan settled_plan(const Plan& base, std::int64_t batch, const FoundPlan& found) {
    Plan plan = settled_plan(base, batch, found.choice);
    if (!found.layers.empty()) plan.parallelism.pipeline.layers = found.layers;
    return plan;
}

Found search(const Cluster& wanted, const Model& model, const Plan& base, const OpenPlan& open, const Search& how) {
    const std::int64_t batch = open.batch;
    Cluster cluster = wanted;
    give_nodes(cluster, base.placement, base.ranks, 0);
    Found found;
    std::optional<WireCosts> wires;
    std::vector<Place> places;
    std::optional<Closest> closest;
    const auto fits = [&](const Candidate& candidate) {
        if (!wires) {
            places = candidate.lowered.places;
            wires.emplace(cluster, places);
        }
        const Forecast expected = forecast(candidate.lowered, *wires);
        found.plans.push_back({candidate.choice, text_of(candidate.choice, base),
                               recomputation_of(candidate.choice, base), expected.time_s, expected.least_s,
                               std::nullopt, candidate.memory});
        return Judged{expected.time_s, expected.least_s};
    };
    const auto too_large = [&](const Candidate& candidate) {
        const std::string device = format_quantity(*candidate.memory.device_bytes, Dimension::bytes);
        found.skipped.add(fmt::format("needs {} of memory, but the device has {}",
                                      format_quantity(candidate.memory.total_bytes(), Dimension::bytes), device),
                          words_of(candidate.choice, base));
        if (!closest || candidate.memory.total_bytes() < closest->memory.total_bytes())
            closest = {candidate.choice, candidate.memory};
        return Judged{candidate.memory.total_bytes()};
    };
    const auto effort = [&](Search::Step step) {
        // Remedies are several searches.
        Effort its{.most = step == Search::Step::seeking_remedies ? how.effort / 4 : how.effort};
        if (how.watch)
            its.watch = [&how, step](std::uint64_t done, std::uint64_t total) { how.watch(step, done, total); };
        return its;
    };
    Effort considering = effort(Search::Step::considering);
    considering.first = how.first;
    found.considered = each_candidate(cluster, model, base, open, considering, fits, too_large, found.skipped);
    if (found.plans.empty() && closest)
        found.remedies = remedies(wanted, model, base, open, effort(Search::Step::seeking_remedies), *closest);

    std::ranges::stable_sort(found.plans, {}, &FoundPlan::estimated_s);
    if (wires) divide_layers(cluster, model, base, batch, *wires, found.plans);
    std::ranges::stable_sort(found.plans, {}, &FoundPlan::estimated_s);
    if (how.watch && how.simulated > 0 && !found.plans.empty()) how.watch(Search::Step::simulating, 0, how.simulated);
    Simulations simulations(cluster, model, base, batch, how);
    Horizon horizon;
    double left_s = how.budget_s;
    std::optional<double> share;      // of estimated messages, at most, that simulations so far had to simulate
    const FoundPlan* runs = nullptr;  // the first that is passed over only for its time
    for (;;) {
        std::vector<FoundPlan*> round;
        std::vector<Estimate> estimates;
        double round_s = 0;
        const std::size_t most = std::min(Search::round, how.simulated - found.simulated);
        double most_bytes = 1;
        for (FoundPlan& plan : found.plans) {
            if (round.size() == most || found.passed_over == Search::most_passed_over) break;
            if (!horizon.is_likely_better(plan) || !plan.passed_over.empty()) continue;
            const auto alike = [&](const FoundPlan* one) { return same_layout(one->choice, plan.choice); };
            if (found.simulated == 0 && std::ranges::any_of(round, alike)) continue;
            const Sizes sizes(cluster, model, settled_plan(base, batch, plan), how.runs);
            plan.passed_over = sizes.excess(left_s - round_s, how.memory_bytes, share.value_or(1));
            if (!plan.passed_over.empty()) {
                // Later it may count less.
                if (!share && !round.empty() && sizes.excess(how.budget_s, how.memory_bytes).empty()) {
                    plan.passed_over.clear();
                    break;
                }
                ++found.passed_over;
                if (runs == nullptr && sizes.excess(never, how.memory_bytes).empty()) runs = &plan;
                continue;
            }
            round_s += share.value_or(1) * sizes.simulation().time_s;
            estimates.push_back(sizes.simulation());
            most_bytes = std::max(most_bytes, sizes.simulation().memory_bytes);
            round.push_back(&plan);
        }
        if (round.empty()) break;
        simulations.run(round, most_bytes);
        found.simulated += round.size();
        for (std::size_t i = 0; i < round.size(); ++i) {
            horizon.add(*round[i]);
            const double own = round[i]->simulated_messages / std::max(1.0, estimates[i].messages);
            share = std::max(share.value_or(0), own);
            left_s -= own * estimates[i].time_s;
        }
    }
    // A plan that was left out by its bound may compute less by what sharded gradients spare: their addition.
    constexpr double spared = 0.1;
    found.proven = found.simulated > 0 && found.considered.all() &&
                   (1 - spared) * found.considered.least_left_s >= horizon.best_s() &&
                   std::none_of(found.plans.begin(), found.plans.end(),
                                [&](const FoundPlan& plan) { return horizon.may_be_better(plan); });
    const auto passed = std::find_if(found.plans.begin(), found.plans.end(),
                                     [](const FoundPlan& plan) { return !plan.passed_over.empty(); });
    if (found.simulated > 0 && passed != found.plans.end() && horizon.ratio() * passed->estimated_s < horizon.best_s())
        found.shorter = *passed;
    if (found.simulated == 0 && runs != nullptr)
        std::rotate(found.plans.begin(), found.plans.begin() + (runs - found.plans.data()),
                    found.plans.begin() + (runs - found.plans.data()) + 1);
    std::stable_sort(found.plans.begin(), found.plans.end(), [](const FoundPlan& a, const FoundPlan& b) {
        return a.simulated_s.value_or(never) < b.simulated_s.value_or(never);
    });
    drop_second_divisions(found.plans);
    return found;
}

}  // namespace syncline::planning
