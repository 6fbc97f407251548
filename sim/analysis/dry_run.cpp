#include "sim/analysis/dry_run.hpp"

#include <fmt/format.h>

#include "sim/iteration/sweep.hpp"
#include "sim/lowering/gradient_sync.hpp"
#include "sim/plan/collective_plan.hpp"

namespace syncline {

namespace {

void put(PlannedExchange& exchange, const Chosen& chosen) {
    exchange.algorithm = chosen.spec.name;
    exchange.protocol = chosen.protocol.name;
    exchange.why = chosen.why;
}

}  // namespace

DryRun dry_run(const Lowered& training) {
    const Plan& plan = training.plan;
    const std::vector<Bucket>& buckets = training.buckets;
    DryRun result;
    result.workload = training.model.name;
    result.memory = memory_of(training);
    result.estimate = estimate(training);
    result.ranks = plan.ranks;
    const bool served = training.served();
    result.operation = served ? "push and pull" : plan.algorithm.operation;
    if (plan.parallelism.sharding != Sharding::none) result.operation = "reduce-scatter and allgather";
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        PlannedExchange exchange;
        exchange.bytes = buckets[b].bytes + buckets[b].second_bytes;
        exchange.times = gradient_syncs(plan, training.arrangement);
        for (const std::uint32_t layer : buckets[b].layers)
            exchange.layers.push_back(training.model.layers[layer].name);
        if (plan.parallelism.whole_model()) {
            exchange.ready_s = buckets[b].ready_s;
            exchange.release_s = buckets[b].release_s;
        }
        exchange.algorithm = served_allreduce;
        exchange.why = "`exchange: parameter-server`";
        if (!served) put(exchange, training.reductions[b].front().chosen);
        if (plan.exchange == ExchangeKind::gossip) exchange.why = "`exchange: gossip`";
        result.exchanges.push_back(std::move(exchange));
    }
    return result;
}

DryRun dry_run(const Cluster& cluster, const CollectivePlan& plan) {
    DryRun result;
    result.ranks = plan.ranks;
    result.operation = plan.algorithm.operation;
    const std::vector<Chosen> chosen = choose_exchanges(cluster, plan);
    result.estimate = estimate(cluster, plan, chosen);
    for (const std::uint64_t bytes : sizes_of(plan)) {
        PlannedExchange exchange;
        exchange.bytes = bytes;
        exchange.algorithm = served_allreduce;
        exchange.why = fmt::format("`algorithm: {}`", served_allreduce);
        if (!chosen.empty()) put(exchange, chosen[result.exchanges.size()]);
        result.exchanges.push_back(std::move(exchange));
    }
    return result;
}

}  // namespace syncline
