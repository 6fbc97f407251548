#include <algorithm>
#include <optional>
#include <utility>

#include "sim/report/parts.hpp"

namespace syncline {

namespace {

/// Returns the mean run part by part: [{part, seconds, cost, energy_J}], null where they are not known.
Json parts_of(const Result& result) {
    const WholeRun& whole = *result.run;
    const FailingRun& run = *whole.failing;
    const ElapsedParts& mean = run.goodput->mean;
    const double useful_J = run.energy_J ? *whole.energy_J - run.idle_W / run.more_nodes * whole.time_s : 0;
    Json parts = Json::array();
    const auto add = [&](const char* part, double seconds, double above_idle_J) {
        Json one{{"part", part}, {"seconds", seconds}, {"cost", nullptr}, {"energy_J", nullptr}};
        if (const std::optional<double> cost = whole.cost_of(seconds)) one["cost"] = *cost;
        if (run.energy_J) one["energy_J"] = run.idle_W * seconds + above_idle_J;
        parts.push_back(std::move(one));
    };
    add("useful", mean.useful_s, useful_J);
    add("checkpoints", mean.checkpoints_s, 0);
    add("lost work", mean.lost_s, mean.lost_J);
    add("restarts", mean.restarts_s, 0);
    if (run.repair_s > 0) {
        add("fewer replicas", mean.slower_s, run.energy_J ? mean.above_idle_J - mean.lost_J - useful_J : 0);
        add("waiting for repair", mean.waiting_s, 0);
    }
    return parts;
}

}  // namespace

Json page_failing_run(const Result& result) {
    if (!result.run || !result.run->failing || !result.run->failing->goodput) return nullptr;
    const std::vector<double>& all_s = result.run->failing->goodput->all_s;
    constexpr std::size_t bars = 24;
    const double from_s = all_s.front(), step_s = (all_s.back() - from_s) / bars;
    std::vector<std::size_t> counts(step_s > 0 ? bars : 1, 0);
    for (const double elapsed_s : all_s) {
        const auto bar = step_s > 0 ? static_cast<std::size_t>((elapsed_s - from_s) / step_s) : 0;
        ++counts[std::min(bar, counts.size() - 1)];
    }
    const FailingRun& run = *result.run->failing;
    Json fewer = Json::array();
    for (const auto& [replicas, seconds] : run.fewer_replicas_s)
        fewer.push_back({{"replicas", replicas}, {"iteration_s", seconds}});
    return {{"from_s", from_s},          {"step_s", step_s},         {"runs", counts},
            {"parts", parts_of(result)}, {"repair_s", run.repair_s}, {"more_nodes", run.more_nodes},
            {"fewer", std::move(fewer)}};
}

}  // namespace syncline
