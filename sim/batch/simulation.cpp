#include "sim/batch/simulation.hpp"

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/config/resolved.hpp"
#include "sim/output/fields.hpp"
#include "sim/output/memory.hpp"
#include "sim/process/isolated.hpp"
#include "sim/replay/native.hpp"
#include "sim/replay/replay.hpp"

namespace syncline::batch {

namespace {

void require_memory(const config::Variant& variant) {
    const Memory memory = memory_of(variant.lowered());
    if (!memory.fits()) throw ReplayError("it " + text::shortage(memory, variant.cluster.device.name));
}

Json simulated(const config::Variant& variant) {
    if (variant.collective) {
        isolated_already();  // an exchange is one simulation, which this process runs
        return object_of(simulate_collective(variant.cluster, *variant.collective));
    }
    require_memory(variant);
    Result result = simulate(variant.lowered());
    result.variant = variant.name;
    return object_of(result);
}

}  // namespace

config::Variant load_run(const std::string& scenario, std::uint64_t seed) {
    return config::load_resolved(scenario, "scenario", inspect, seed);
}

Json simulate_run(const std::string& scenario, std::uint64_t seed) {
    return simulated(load_run(scenario, seed));
}

Json simulate_run(const std::string& id, const PlannedRun& run) {
    config::Resolved read;
    const config::Variant variant = config::load_resolved(run.scenario, "scenario", inspect, run.seed, &read);
    if (!read.files.empty() && run_id(read, run.seed) != id)
        throw ReplayError(
            "a file that the scenario names (a graph, or a platform in SimGrid's format) has changed since the batch "
            "began; the same batch again simulates the new content");
    return simulated(variant);
}

}  // namespace syncline::batch
