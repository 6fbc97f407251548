#include "sim/planning/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/base/units.hpp"
#include "sim/planning/candidates.hpp"
#include "sim/planning/forecast.hpp"
#include "sim/planning/remedies.hpp"
#include "sim/process/isolated.hpp"
#include "sim/process/pool.hpp"
#include "sim/replay/engine.hpp"
#include "sim/training/open_plan.hpp"

namespace syncline::planning {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double look_again_s = 3600;

/// Returns the plan as the search simulates it.
Lowered lowered(const Cluster& cluster, const Model& model, const Plan& base, std::int64_t batch,
                const Choice& choice) {
    Plan plan = plan_of(choice, base);
    OpenPlan open;
    open.batch = batch;
    share_batch(plan, open);
    constexpr std::int64_t enough = 2;  // the second iteration already follows another one
    if (!plan.noise.varies()) plan.iterations = std::min(plan.iterations, enough);
    const bool varies = plan.noise.lateness().varies();
    plan.fidelity = cluster.native || varies ? Fidelity::message : Fidelity::folded;
    return lower(cluster, model, std::move(plan));
}

/// Simulates plans in separate processes and sets their times.
class Simulations {
public:
    Simulations(const Cluster& cluster, const Model& model, const Plan& base, std::int64_t batch, const Search& how)
        : cluster_(cluster), model_(model), base_(base), batch_(batch), how_(how) {}

    void run(const std::vector<FoundPlan*>& plans) {
        engine();  // loaded once, for all processes
        Pool pool(how_.jobs, std::nullopt);
        for (std::size_t next = 0; next < plans.size() || !pool.idle();) {
            for (; next < plans.size() && !pool.full(); ++next)
                pool.start(std::to_string(next), [this, plan = plans[next]] { return time_of(*plan); });
            for (const Ended& ended : pool.ended(look_again_s)) {
                FoundPlan& plan = *plans[std::stoul(ended.id)];
                if (!ended.done)
                    throw ReplayError(fmt::format("`parallelism: {}` cannot be simulated: {}", plan.text, ended.text));
                plan.simulated_s = std::strtod(ended.text.c_str(), nullptr);
                if (how_.watch) how_.watch(++done_, true);
            }
        }
    }

private:
    /// Runs in a process of its own.
    std::string time_of(const FoundPlan& plan) const {
        isolated_already();
        return fmt::format("{}",
                           replay_iteration(lowered(cluster_, model_, base_, batch_, plan.choice)).time.iteration_s);
    }

    const Cluster& cluster_;
    const Model& model_;
    const Plan& base_;
    const std::int64_t batch_;
    const Search& how_;
    std::size_t done_ = 0;
};

/// Judges the plans that are left by the simulations so far.
struct Horizon {
    double best_s = never;  ///< the shortest simulated iteration
    double ratio = 1;       ///< the smallest of simulated to estimated time

    void add(const FoundPlan& plan) {
        ratio = best_s == never ? *plan.simulated_s / plan.estimated_s
                                : std::min(ratio, *plan.simulated_s / plan.estimated_s);
        best_s = std::min(best_s, *plan.simulated_s);
    }
    bool may_be_better(const FoundPlan& plan) const { return !plan.simulated_s && plan.least_s < best_s; }
    bool is_likely_better(const FoundPlan& plan) const {
        return may_be_better(plan) && (1 - Search::margin) * ratio * plan.estimated_s < best_s;
    }
};

}  // namespace

Found search(const Cluster& wanted, const Model& model, const Plan& base, std::int64_t batch, const Search& how) {
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
        found.plans.push_back({candidate.choice, text_of(candidate.choice, base), expected.time_s, expected.least_s,
                               std::nullopt, candidate.memory});
        if (how.watch) how.watch(found.plans.size(), false);
    };
    const auto too_large = [&](const Candidate& candidate) {
        const std::string device = format_quantity(*candidate.memory.device_bytes, Dimension::bytes);
        found.skipped.add(fmt::format("needs {} of memory, but the device has {}",
                                      format_quantity(candidate.memory.total_bytes(), Dimension::bytes), device),
                          text_of(candidate.choice, base));
        if (!closest || candidate.memory.total_bytes() < closest->memory.total_bytes())
            closest = {candidate.choice, candidate.memory};
    };
    found.considered = each_candidate(cluster, model, base, batch, fits, too_large, found.skipped);
    if (found.plans.empty() && closest) found.remedies = remedies(wanted, model, base, batch, *closest);

    std::stable_sort(found.plans.begin(), found.plans.end(),
                     [](const FoundPlan& a, const FoundPlan& b) { return a.estimated_s < b.estimated_s; });
    Simulations simulations(cluster, model, base, batch, how);
    Horizon horizon;
    double left_s = how.budget_s;
    for (;;) {
        std::vector<FoundPlan*> round;
        const std::size_t most = std::min(Search::round, how.simulated - found.simulated);
        for (FoundPlan& plan : found.plans) {
            if (round.size() == most || left_s < 0) break;
            if (!horizon.is_likely_better(plan)) continue;
            left_s -= estimate(lowered(cluster, model, base, batch, plan.choice)).time_s;
            if (left_s >= 0) round.push_back(&plan);
        }
        if (round.empty()) break;
        simulations.run(round);
        found.simulated += round.size();
        for (const FoundPlan* plan : round) horizon.add(*plan);
    }
    found.proven =
        found.simulated > 0 && std::none_of(found.plans.begin(), found.plans.end(),
                                            [&](const FoundPlan& plan) { return horizon.may_be_better(plan); });
    std::stable_sort(found.plans.begin(), found.plans.end(), [](const FoundPlan& a, const FoundPlan& b) {
        return a.simulated_s.value_or(never) < b.simulated_s.value_or(never);
    });
    return found;
}

}  // namespace syncline::planning
