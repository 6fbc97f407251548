#include "sim/batch/simulation.hpp"

#include <fmt/format.h>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/analysis/trace_experiment.hpp"
#include "sim/config/resolved.hpp"
#include "sim/jobs/job_estimate.hpp"
#include "sim/jobs/jobs_experiment.hpp"
#include "sim/output/memory_text.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/process/isolated.hpp"
#include "sim/process/memory_limit.hpp"
#include "sim/replay/native.hpp"
#include "sim/replay/replay.hpp"

namespace syncline::batch {

namespace {

void require_memory(const config::Variant& variant) {
    const Lowered& training = variant.lowered();
    const Memory memory = memory_of(training);
    if (!memory.fits()) throw ReplayError("it " + text::shortage(memory, training.cluster.device.name));
}

void require_memory(const Cluster& cluster, const JobsPlan& jobs) {
    for (const JobMemory& job : memory_of(cluster, jobs))
        if (!job.memory.fits())
            throw ReplayError(fmt::format("job '{}' {}", job.name, text::shortage(job.memory, cluster.device.name)));
}

void require_modest(const Estimate& estimate) {
    if (const std::string reason = excess(estimate, usable_memory_bytes()); !reason.empty())
        throw ReplayError(fmt::format("it {}: {}", reason, smaller(estimate, "--retry-failed --force")));
}

Json simulated(const config::Variant& variant, bool forced, bool allow_oom = false) {
    if (variant.collective) {
        if (!forced) require_modest(estimate(variant.cluster, *variant.collective));
        isolated_already();  // an exchange is one simulation, which this process runs
        return object_of(simulate_collective(variant.cluster, *variant.collective));
    }
    if (variant.trace) {
        if (!forced) require_modest(estimate(variant.cluster, *variant.trace));
        Result result = simulate(variant.cluster, *variant.trace);
        result.variant = variant.name;
        return object_of(result);
    }
    if (variant.jobs) {
        if (!allow_oom) require_memory(variant.cluster, *variant.jobs);
        if (!forced) require_modest(estimate(variant.cluster, *variant.jobs));
        Result result = simulate(variant.cluster, *variant.jobs);
        result.variant = variant.name;
        return object_of(result);
    }
    if (!allow_oom) require_memory(variant);
    if (!forced) require_modest(estimate(variant.lowered()));
    Result result = simulate(variant.lowered());
    result.variant = variant.name;
    return object_of(result);
}

}  // namespace

config::Variant load_run(const std::string& scenario, std::uint64_t seed) {
    return config::load_resolved(scenario, "scenario", inspect, seed);
}

Json simulate_run(const std::string& scenario, std::uint64_t seed, bool allow_oom) {
    return simulated(load_run(scenario, seed), true, allow_oom);
}

Json simulate_run(const std::string& id, const PlannedRun& run, bool forced) {
    config::Resolved read;
    const config::Variant variant = config::load_resolved(run.scenario, "scenario", inspect, run.seed, &read);
    if (!read.files.empty() && run_id(read, run.seed) != id)
        throw ReplayError(
            "a file that the scenario names (a graph, or a platform in SimGrid's format) has changed since the batch "
            "began; the same batch again simulates the new content");
    return simulated(variant, forced);
}

}  // namespace syncline::batch
