#include "sim/explore/explore.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "sim/batch/listing.hpp"
#include "sim/explore/halving_search.hpp"
#include "sim/explore/pareto.hpp"
#include "sim/explore/rating.hpp"
#include "sim/output/reasons.hpp"

namespace syncline::batch {

namespace {

/// A plan with its figures: objective, time, cost, and others that are shown.
struct Ranked {
    const Candidate* plan;
    std::vector<std::optional<double>> figures;
};

/// Returns the figures besides the objective: time, cost, and others that are shown.
std::vector<Figure> name_columns(Results& results, Exploration& result) {
    result.objective = results.settled(result.objective);
    result.objective_column = results.figure(result.objective.expression.text).name;
    std::vector<Figure> columns{results.time(), results.cost()};
    result.time = columns[0].name;
    result.cost = columns[1].name;
    for (const char* figure : {"iteration_time_s", "throughput_samples_per_s"})
        if (results.has(figure)) columns.push_back(results.figure(figure));
    if (!results.priced())
        result.notes.push_back("cost is device time, ranks × seconds, because nodes have no price_per_hour");
    return columns;
}

/// Returns the ranked plans, best first, and counts the others.
std::vector<Ranked> rank(const std::vector<Candidate>& plans, std::vector<PlanFigures> figures, Exploration& result) {
    std::vector<Ranked> ranked;
    for (const std::size_t place : best_first(result.objective, figures)) {
        switch (figures[place].outcome) {
            case Outcome::ranked:
                ranked.push_back({&plans[place], std::move(figures[place].values)});
                break;
            case Outcome::outside_constraints:
                ++result.counts.outside_constraints;
                break;
            case Outcome::failed:
                ++result.counts.failed;
                break;
            case Outcome::without_value:
                ++result.counts.without_value;
                break;
        }
    }
    result.counts.ranked = std::ssize(ranked);
    return ranked;
}

std::vector<Ranked> front_of(const std::vector<Ranked>& ranked) {
    std::vector<Ranked> offered;
    std::vector<Offer> offers;
    for (const Ranked& one : ranked) {
        if (!one.figures[1] || !one.figures[2]) continue;
        offered.push_back(one);
        offers.push_back({*one.figures[1], *one.figures[2]});
    }
    std::vector<Ranked> front;
    for (const std::size_t place : pareto_front(offers)) front.push_back(offered[place]);
    return front;
}

/// Returns settings of which the study's plans have several values, and figures, each once.
Rows rows(const std::vector<Ranked>& chosen, const std::vector<std::string>& keys, const std::vector<std::string>& all,
          const std::vector<Figure>& columns) {
    Rows rows{{"point"}, {}};
    for (const std::string& key : keys) rows.columns.push_back(short_name(key, all));
    rows.units.resize(rows.columns.size(), Unit::number);
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0 && columns[i].name == columns.front().name) continue;
        shown.push_back(i);
        rows.columns.push_back(columns[i].name);
        rows.units.push_back(columns[i].unit);
    }
    for (const Ranked& one : chosen) {
        std::vector<Value>& row = rows.rows.emplace_back();
        row.emplace_back(one.plan->points.front()->number);
        for (const std::string& key : keys) row.emplace_back(setting_of(*one.plan, key));
        for (const std::size_t i : shown) {
            Value& cell = row.emplace_back();
            if (one.figures[i]) cell = *one.figures[i];
        }
    }
    return rows;
}

std::vector<std::string> varied(const std::vector<std::string>& keys, const std::vector<Candidate>& plans) {
    std::vector<std::string> some;
    for (const std::string& key : keys) {
        const std::string first = setting_of(plans.front(), key);
        const auto other = [&](const Candidate& plan) { return setting_of(plan, key) != first; };
        if (std::any_of(plans.begin(), plans.end(), other)) some.push_back(key);
    }
    return some;
}

/// Rates the axes on the ranked plans only.
std::vector<AxisImportance> rate(const config::Study& study, const std::vector<Ranked>& ranked, Exploration& result) {
    std::vector<const Candidate*> plans;
    std::vector<double> values;
    for (const Ranked& one : ranked) {
        plans.push_back(one.plan);
        values.push_back(*one.figures.front());
    }
    return rate_axes(axes_of(study, plans), result.objective, values, result.notes);
}

/// Returns the first error of rendered ones, in one line.
std::string first_error(const std::string& message) {
    constexpr std::string_view before = "error: ";
    const std::string_view text = message;
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto at = line.find(before);
    return std::string(at == std::string_view::npos ? line : line.substr(at + before.size()));
}

/// Returns the reasons why some of `plans` do not fit and others failed.
std::vector<NotRanked> reasons_of(Store& store, const std::string& study, const std::vector<Candidate>& plans) {
    std::map<std::int64_t, std::string> failed;
    for (const Failure& failure : first_failures(store, study, std::numeric_limits<std::int64_t>::max()))
        failed.emplace(failure.point, failure.message);
    Reasons reasons;
    for (const Candidate& plan : plans) {
        for (const config::StudyPoint* point : plan.points) {
            const auto failure = failed.find(point->number);
            if (point->misfit.empty() && failure == failed.end()) continue;
            reasons.add(first_error(point->misfit.empty() ? failure->second : point->misfit), shown(plan.settings));
            break;
        }
    }
    std::vector<NotRanked> all;
    for (const Reasons::Reason& reason : reasons.all())
        all.push_back({reason.example, reason.varies, reason.count, reason.of.empty() ? "" : reason.of.front()});
    return all;
}

}  // namespace

Exploration explore(Store& store, const PlannedStudy& planned, const ExploreOptions& options,
                    const Simulate& simulate) {
    add_points(store, planned, Shard{});
    const std::vector<Candidate> plans = plans_of(planned.points);
    std::vector<Candidate> last;
    std::copy_if(plans.begin(), plans.end(), std::back_inserter(last),
                 [](const Candidate& plan) { return plan.fits(); });

    Exploration result;
    result.study = planned.study.name();
    result.objective = options.objective;
    for (const config::Condition& constraint : options.constraints) result.constraints.push_back(constraint.text);
    result.plans = std::ssize(plans);
    result.repeats = planned.study.repeats();
    result.budget = options.budget;
    result.counts.unfit = std::ssize(plans) - std::ssize(last);

    Measurement measurement(store, options.objective, options.constraints, options.retry_failed, simulate);
    const bool searched = options.budget > 0 && std::ssize(last) * result.repeats > options.budget;
    if (searched) {
        Search found = search(planned, last, options.budget, options.seed, measurement);
        std::sort(found.kept.begin(), found.kept.end());
        std::vector<Candidate> kept;
        for (const std::size_t place : found.kept) kept.push_back(last[place]);
        result.counts.skipped = std::ssize(last) - static_cast<std::int64_t>(found.first);
        result.counts.left_out = static_cast<std::int64_t>(found.first) - std::ssize(kept);
        result.stages = std::move(found.stages);
        last = std::move(kept);
    } else {
        measurement.run(result.study, last);
    }
    result.simulations = measurement.simulations();
    result.interrupted = measurement.interrupted();
    if (result.interrupted) return result;

    result.not_ranked = reasons_of(store, result.study, plans);
    Results results(store, result.study);
    if (results.empty()) {
        result.counts.failed = std::ssize(last);
        return result;
    }
    measurement.figures(results, {});  // checks the expressions
    const std::vector<Figure> shown = name_columns(results, result);
    std::vector<PlanFigures> figures = measurement.figures(results, last, shown);
    const std::vector<Ranked> ranked = rank(last, std::move(figures), result);
    const auto& all = planned.study.keys();
    const std::vector<std::string> keys = varied(all, plans);
    std::vector<Figure> columns{results.figure(result.objective.expression.text)};
    columns.insert(columns.end(), shown.begin(), shown.end());
    const auto top = static_cast<std::ptrdiff_t>(std::min(ranked.size(), static_cast<std::size_t>(options.top)));
    result.ranked = rows({ranked.begin(), ranked.begin() + top}, keys, all, columns);
    result.front = rows(front_of(ranked), keys, all, columns);
    result.axes = rate(planned.study, ranked, result);
    if (searched && !result.axes.empty())
        result.notes.push_back(
            "axes are compared only on the points that the search kept: good ones, not all combinations");
    return result;
}

}  // namespace syncline::batch
