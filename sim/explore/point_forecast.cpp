#include "sim/explore/point_forecast.hpp"

#include <fmt/format.h>

#include "sim/analysis/cost.hpp"
#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/theory.hpp"
#include "sim/batch/simulation.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/plan/collective_plan.hpp"

namespace syncline::batch {

namespace {

/// Adds the cost as in a ranking: without prices it is device time.
void add_cost(std::vector<config::Setting>& figures, const Cost& cost) {
    figures.push_back({"device_time_s", fmt::format("{}", cost.device_time_s)});
    figures.push_back({"cost", fmt::format("{}", cost.cost.value_or(cost.device_time_s))});
}

config::Setting figure(const char* name, double value) {
    return {name, fmt::format("{}", value)};
}

std::vector<config::Setting> of_training(const config::Variant& variant) {
    const auto time_s = closed_form(variant.lowered()).iteration_time_s;
    if (!time_s || *time_s <= 0) return {};
    const TaskGraph graph = build_iteration(variant.lowered());
    std::vector<config::Setting> figures{
        figure("iteration_time_s", *time_s),
        figure("throughput_samples_per_s", static_cast<double>(variant.plan.used_batch()) / *time_s)};
    add_cost(figures, cost_of(variant.cluster, graph, variant.plan.ranks, *time_s));
    return figures;
}

std::vector<config::Setting> of_exchange(const config::Variant& variant) {
    const CollectivePlan& plan = *variant.collective;
    const auto time_s = closed_form_s(variant.cluster, plan);
    if (!time_s || *time_s <= 0) return {};
    const auto ranks = static_cast<double>(plan.ranks);
    const double bandwidth_Bps = static_cast<double>(plan.bytes) / *time_s;
    return {figure("completion_time_s", *time_s), figure("algorithm_bandwidth_Bps", bandwidth_Bps),
            figure("bus_bandwidth_Bps", bandwidth_Bps * bus_factor(plan.algorithm.operation, ranks)),
            figure("device_time_s", ranks * *time_s)};
}

}  // namespace

std::vector<config::Setting> forecast(const config::StudyPoint& point) {
    const config::Variant variant = load_run(point.resolved.text(), point.seed);
    if (variant.trace || variant.jobs) return {};
    return variant.collective ? of_exchange(variant) : of_training(variant);
}

}  // namespace syncline::batch
