#include "sim/analysis/failing_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sim/analysis/checkpoint_interval.hpp"
#include "sim/analysis/used_parts.hpp"
#include "sim/base/units.hpp"
#include "sim/lowering/device_memory.hpp"

namespace syncline {

namespace {

double state_bytes(const Lowered& training) {
    const Model& model = training.model;
    const Optimizer optimizer = training.plan.optimizer;
    const double kept =
        optimizer == Optimizer::none ? 0 : master_element(model) + kept_values(optimizer) * moment_element(model);
    return static_cast<double>(model.parameters()) * (weight_element(model) + kept);
}

/// Returns the time to copy the state of the fullest rank to its host.
double snapshot_s(const Lowered& training) {
    const Memory memory = memory_of(training);
    double host_link_Bps = training.cluster.device.host_link_Bps;
    for (const RankKind& kind : training.kinds)
        host_link_Bps = std::min(host_link_Bps, training.cluster.device_of(kind.node_kind).host_link_Bps);
    return (memory.weights_bytes + memory.optimizer_bytes) / host_link_Bps;
}

std::string roughly(double seconds) {
    return format_roughly(seconds, Dimension::seconds);
}

}  // namespace

std::optional<FailingRun> failing_run(const Lowered& training, std::int64_t nodes, double iterations,
                                      double iteration_s, const Known& known) {
    const Checkpointing& plan = training.plan.run.checkpoint;
    const Cluster& cluster = training.cluster;
    if (iteration_s <= 0 || (!plan.given && !cluster.failures.any())) return std::nullopt;
    if (!plan.write_s && !cluster.storage.write_Bps) return std::nullopt;
    FailingRun run;
    run.mtbf_s = mtbf_s(cluster.failures, used_parts(cluster, training.places, nodes));
    if (!plan.write_s) run.bytes = plan.bytes.value_or(state_bytes(training));
    run.write_s = plan.write_s ? *plan.write_s : *run.bytes / *cluster.storage.write_Bps;
    run.blocking_s = plan.overlapped ? plan.snapshot_s.value_or(snapshot_s(training)) : run.write_s;
    run.restart_s = plan.restart_s;
    run.young_s = young_interval_s(run.blocking_s, run.mtbf_s);
    run.daly_s = daly_interval_s(run.blocking_s, run.mtbf_s);
    double wanted_s = plan.interval_s;
    if (wanted_s == 0) wanted_s = plan.overlapped ? std::max(run.daly_s, run.write_s) : run.daly_s;
    const double interval = std::clamp(std::round(wanted_s / iteration_s), 1.0, iterations);
    run.interval_s = interval * iteration_s;
    const Repairs& repairs = plan.repairs;
    run.repair_s = repairs.time_s;
    run.more_nodes = static_cast<double>(nodes + repairs.spares) / static_cast<double>(nodes);
    InterruptedRun sampled{iterations,    iteration_s, interval, run.blocking_s, plan.overlapped ? run.write_s : 0,
                           run.restart_s, run.mtbf_s};
    const double nodes_idle_W = known.idle_W * static_cast<double>(nodes);
    sampled.above_idle_J = std::max(0.0, known.energy_J - nodes_idle_W * iteration_s);
    sampled.repair_s = repairs.time_s;
    sampled.spares = repairs.spares;
    std::optional<FewerReplicas> fewer;
    if (repairs.elastic != Elastic::none && known.iteration) {
        fewer.emplace(training, known.iteration, known.idle_W);
        sampled.without = [&fewer](std::int64_t missing) { return fewer->pace(missing); };
    }
    run.expected_s = expected_elapsed_s(
        {sampled.useful_s(), run.interval_s, run.blocking_s, sampled.background_s, run.restart_s, run.mtbf_s});
    run.goodput = sample_goodput(sampled, training.plan.noise.seed);
    if (repairs.time_s > 0)
        run.expected_s = fewer ? std::numeric_limits<double>::infinity()
                               : run.expected_s / (1 - erlang_loss(repairs.spares, repairs.time_s / run.mtbf_s));
    if (fewer) run.fewer_replicas_s = fewer->iterations_s();
    if (run.goodput && known.energy_J > 0) {
        run.idle_W = run.more_nodes * nodes_idle_W;
        std::vector<double> all_J;
        for (const ElapsedParts& parts : run.goodput->runs)
            all_J.push_back(run.idle_W * parts.total_s() + parts.above_idle_J);
        run.energy_J = spread_of(std::move(all_J));
    }
    return run;
}

std::string failures_note(const Lowered& training, std::int64_t nodes, const std::optional<FailingRun>& run) {
    // An interval of so many mean times between failures practically never passes without one.
    constexpr double many = 20;
    if (run && !run->goodput && std::isfinite(run->expected_s) &&
        run->interval_s + run->write_s + run->restart_s < many * run->mtbf_s)
        return fmt::format(
            "the whole run has more than a million failures, too many to sample: by Daly's formula it takes {}",
            roughly(run->expected_s));
    if (run && !run->goodput)
        return fmt::format(
            "the whole run would not end: a part fails every {}, but an interval of {}, its checkpoint of {} and a "
            "restart of {} have to pass without a failure",
            roughly(run->mtbf_s), roughly(run->interval_s), roughly(run->write_s), roughly(run->restart_s));
    const bool elastic = training.plan.run.checkpoint.repairs.elastic != Elastic::none;
    if (run && elastic && run->goodput->mean.waiting_s > 0 && run->fewer_replicas_s.empty())
        return "the whole run waits for each repair: the plan allows no smaller number of replicas, or their part of "
               "the "
               "batch does not fit into the devices' memory";
    if (run || !training.cluster.failures.any()) return "";
    const double each_s = mtbf_s(training.cluster.failures, used_parts(training.cluster, training.places, nodes));
    return fmt::format(
        "the whole run has no failures, though a part of the {} nodes fails every {}: write how long a checkpoint "
        "takes, `training.run.checkpoint: {{write_time: 5 min}}`, or `platform.storage.write_bandwidth`",
        nodes, roughly(each_s));
}

}  // namespace syncline
