#include "sim/explore/measurement.hpp"

#include <algorithm>
#include <numeric>

namespace syncline::batch {

bool Measurement::run(const std::string& study, const std::vector<Candidate>& plans) {
    std::set<std::string> wanted;
    for (const Candidate& plan : plans)
        for (const config::StudyPoint* point : plan.points) wanted.insert(run_id(point->resolved, point->seed));
    simulated_.insert(wanted.begin(), wanted.end());
    std::vector<std::string> runs;
    for (std::string& id : store_.to_run(study, retry_failed_))
        if (wanted.count(id) > 0) runs.push_back(std::move(id));
    // An error in an expression should be reported after the first result, not after the last.
    if (!checked_ && runs.size() > 1) {
        interrupted_ = simulate_({runs.front()}).interrupted;
        runs.erase(runs.begin());
        Results first(store_, study);
        if (!interrupted_) figures(first, plans);
    }
    if (!interrupted_ && !runs.empty()) interrupted_ = simulate_(runs).interrupted;
    return !interrupted_;
}

std::vector<PlanFigures> Measurement::figures(Results& results, const std::vector<Candidate>& plans,
                                              const std::vector<Figure>& columns) {
    if (results.empty()) return std::vector<PlanFigures>(plans.size());
    checked_ = true;
    return results.of(plans, results.settled(objective_), constraints_, columns);
}

std::vector<std::size_t> best_first(const Objective& objective, const std::vector<PlanFigures>& figures) {
    const auto is_better = [&](std::size_t one, std::size_t other) {
        const PlanFigures &a = figures[one], &b = figures[other];
        if (a.outcome != b.outcome) return a.outcome < b.outcome;
        const bool both = !a.values.empty() && a.values.front() && b.values.front();
        return both && better(objective, *a.values.front(), *b.values.front());
    };
    std::vector<std::size_t> places(figures.size());
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), is_better);
    return places;
}

}  // namespace syncline::batch
