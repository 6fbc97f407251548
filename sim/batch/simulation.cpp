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

}  // namespace

config::Variant load_run(const std::string& scenario, std::uint64_t seed) {
    return config::load_resolved(scenario, "scenario", inspect, seed);
}

Json simulate_run(const std::string& scenario, std::uint64_t seed) {
    config::Variant variant = load_run(scenario, seed);
    if (variant.collective) {
        isolated_already();  // an exchange is one simulation, which this process runs
        return object_of(simulate_collective(variant.cluster, *variant.collective));
    }
    require_memory(variant);
    Result result = simulate(variant.lowered());
    result.variant = variant.name;
    return object_of(result);
}

}  // namespace syncline::batch
