#include "sim/explore/halving_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/explore/halving.hpp"
#include "sim/explore/point_forecast.hpp"

namespace syncline::batch {

namespace {

/// The plans at one setting, which is a separate study in the store.
struct Rung {
    std::string setting, study;
    std::vector<config::StudyPoint> points;
    std::vector<Candidate> plans;  ///< by place in `fitting`; without points if the plan does not fit at this setting
};

std::vector<Candidate> at(const std::vector<Candidate>& plans, const std::vector<std::size_t>& places) {
    std::vector<Candidate> chosen;
    for (const std::size_t place : places) chosen.push_back(plans[place]);
    return chosen;
}

bool trains(const config::StudyPoint& point) {
    const auto& sections = point.resolved.sections;
    return std::any_of(sections.begin(), sections.end(),
                       [](const config::ResolvedSection& section) { return section.key == "training"; });
}

/// Gives the rung's plans its own points. Returns false if they are the same simulations as the study's.
bool match(Rung& rung) {
    const auto key_of = [](const config::StudyPoint& point) {
        return fmt::format("{}; {}", point.repeat, shown(point.settings));
    };
    std::map<std::string, const config::StudyPoint*> known;
    for (const config::StudyPoint& point : rung.points)
        if (point.misfit.empty()) known.emplace(key_of(point), &point);
    bool differs = false;
    for (Candidate& plan : rung.plans) {
        std::vector<const config::StudyPoint*> points;
        for (const config::StudyPoint* point : plan.points) {
            const auto found = known.find(key_of(*point));
            if (found == known.end()) continue;
            points.push_back(found->second);
            differs = differs || found->second->resolved.text() != point->resolved.text();
        }
        if (points.size() != plan.points.size()) points.clear();
        plan.points = std::move(points);
    }
    return differs;
}

std::vector<Rung> rungs_of(const PlannedStudy& planned, const std::vector<Candidate>& fitting) {
    std::vector<std::vector<std::string>> cheaper = planned.study.question().cheaper;
    if (cheaper.empty() && trains(*fitting.front().points.front())) cheaper = {{"training.iterations=1"}};
    std::vector<Rung> rungs;
    for (const std::vector<std::string>& changes : cheaper) {
        Rung rung{fmt::format("{}", fmt::join(changes, " ")), "", points_of(planned.study, changes), fitting};
        rung.study = fmt::format("{} ({})", planned.study.name(), rung.setting);
        if (match(rung)) rungs.push_back(std::move(rung));
    }
    rungs.push_back({"as the study says", planned.study.name(), {}, fitting});
    return rungs;
}

/// Adds the chosen plans of a cheaper setting to the store, and no others.
void note(Store& store, const Rung& rung, const std::vector<Candidate>& chosen) {
    std::set<const config::StudyPoint*> wanted;
    for (const Candidate& plan : chosen) wanted.insert(plan.points.begin(), plan.points.end());
    store.begin_study(rung.study);
    for (const config::StudyPoint& point : rung.points) {
        if (wanted.count(&point) > 0)
            store.add(point);
        else
            store.skip(point);
    }
    store.end_study();
}

/// Returns the objective by closed form, or nothing if it needs figures of a simulation.
std::optional<double> forecast_of(const Objective& objective, const config::StudyPoint& point) {
    std::vector<config::Setting> known = point.settings;
    for (const config::Setting& figure : forecast(point)) known.push_back(figure);
    std::vector<std::string> keys;
    for (const config::Setting& one : known) keys.push_back(one.key);
    try {
        Table table(keys);
        table.set(known);
        Query query;
        query.columns = {objective.expression.text};
        return number_of(table.select(query).rows.at(0).at(0));
    } catch (const SqlError&) {
        return {};
    }
}

/// Returns the forecasts of all plans, if all have one.
std::optional<std::vector<PlanFigures>> forecasts(const Objective& objective, const std::vector<Candidate>& plans) {
    std::vector<PlanFigures> all;
    for (const Candidate& plan : plans) {
        const auto value = forecast_of(objective, *plan.points.front());
        if (!value) return {};
        all.push_back({Outcome::ranked, {value}});
    }
    return all;
}

std::vector<std::size_t> drawn(const config::Study& study, const std::vector<Candidate>& fitting, std::size_t size,
                               std::uint64_t seed) {
    std::vector<const Candidate*> plans;
    for (const Candidate& plan : fitting) plans.push_back(&plan);
    std::vector<std::vector<std::size_t>> values(plans.size());
    for (const PlanAxis& axis : axes_of(study, plans))
        for (std::size_t plan = 0; plan < plans.size(); ++plan) values[plan].push_back(axis.value_of[plan]);
    return spread_draw(values, size, seed);
}

}  // namespace

Search search(const PlannedStudy& planned, const std::vector<Candidate>& fitting, std::int64_t budget,
              std::uint64_t seed, Measurement& measurement) {
    const std::int64_t repeats = planned.study.repeats();
    if (budget < repeats)
        throw ConfigError({{{planned.path, 1, 1, ""},
                            fmt::format("a budget of {} is less than the {} repetitions of one point", budget, repeats),
                            "raise `--budget`, or lower `repeat`"}});
    const std::vector<Rung> rungs = rungs_of(planned, fitting);
    const auto sizes = rung_sizes(fitting.size(), rungs.size(), static_cast<std::size_t>(budget / repeats));

    Search result;
    result.first = *std::find_if(sizes.begin(), sizes.end(), [](std::size_t size) { return size > 0; });
    const auto known = forecasts(measurement.objective(), fitting);
    const std::vector<std::size_t> order =
        known ? best_first(measurement.objective(), *known) : drawn(planned.study, fitting, result.first, seed);
    result.stages.push_back({known ? "closed form" : fmt::format("drawn, evenly over the axes (seed {})", seed),
                             std::ssize(fitting), static_cast<std::int64_t>(result.first), 0});

    const auto rank = [&](std::size_t r, const std::vector<std::size_t>& chosen) -> std::vector<std::size_t> {
        if (measurement.interrupted()) return {};
        const Rung& rung = rungs[r];
        const std::vector<Candidate> plans = at(rung.plans, chosen);
        const bool cheaper = r + 1 < rungs.size();
        result.stages.push_back({rung.setting, std::ssize(chosen),
                                 cheaper ? static_cast<std::int64_t>(sizes[r + 1]) : std::ssize(chosen),
                                 std::ssize(chosen) * repeats});
        if (cheaper) note(measurement.store(), rung, plans);
        if (!measurement.run(rung.study, plans) || !cheaper) return chosen;
        Results results(measurement.store(), rung.study);
        std::vector<std::size_t> best = best_first(measurement.objective(), measurement.figures(results, plans));
        for (std::size_t& place : best) place = chosen[place];
        return best;
    };
    result.kept = successive_halving(order, sizes, rank);
    return result;
}

}  // namespace syncline::batch
