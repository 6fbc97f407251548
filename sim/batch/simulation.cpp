#include "sim/batch/simulation.hpp"

#include <fmt/format.h>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/exchange_experiment.hpp"
#include "sim/batch/variant_run.hpp"
#include "sim/config/resolved.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/process/isolated.hpp"
#include "sim/process/memory_limit.hpp"
#include "sim/replay/native.hpp"
#include "sim/replay/replay.hpp"

namespace syncline::batch {

namespace {

void require_modest(const config::Variant& variant) {
    const Estimate estimate = estimate_of(variant);
    if (const std::string reason = excess(estimate, usable_memory_bytes()); !reason.empty())
        throw ReplayError(fmt::format("it {}: {}", reason, smaller(estimate, "--retry-failed --force")));
}

Json result_of(const config::Variant& variant, bool forced, bool allow_oom = false) {
    if (!allow_oom)
        if (const std::string shortage = shortage_of(variant); !shortage.empty()) throw ReplayError(shortage);
    if (!forced) require_modest(variant);
    if (!variant.collective) return object_of(simulated(variant));
    isolated_already();  // an exchange is one simulation, which this process runs
    return object_of(simulate_collective(variant.cluster, *variant.collective));
}

}  // namespace

config::Variant load_run(const std::string& scenario, std::uint64_t seed) {
    return config::load_resolved(scenario, "scenario", inspect, seed);
}

Json simulate_run(const std::string& scenario, std::uint64_t seed, bool allow_oom) {
    return result_of(load_run(scenario, seed), true, allow_oom);
}

Json simulate_run(const std::string& id, const PlannedRun& run, bool forced) {
    config::Resolved read;
    const config::Variant variant = config::load_resolved(run.scenario, "scenario", inspect, run.seed, &read);
    if (!read.files.empty() && run_id(read, run.seed) != id)
        throw ReplayError(
            "a file that the scenario names (a graph, or a platform in SimGrid's format) has changed since the batch "
            "began; the same batch again simulates the new content");
    return result_of(variant, forced);
}

}  // namespace syncline::batch
