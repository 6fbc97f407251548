#include "sim/batch/simulation.hpp"

#include <nlohmann/json.hpp>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/config/resolved.hpp"
#include "sim/output/memory.hpp"
#include "sim/output/writers.hpp"
#include "sim/process/isolated.hpp"
#include "sim/replay/native.hpp"
#include "sim/replay/replay.hpp"

namespace syncline::batch {

namespace {

using Json = nlohmann::ordered_json;

void require_memory(const config::Variant& variant) {
    const Memory memory = memory_of(variant.lowered());
    if (!memory.fits()) throw ReplayError("it " + text::shortage(memory, variant.cluster.device.name));
}

std::string one_line(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

config::Variant load_run(const std::string& scenario, std::uint64_t seed) {
    return config::load_resolved(scenario, "scenario", inspect, seed);
}

std::string simulate_run(const std::string& scenario, std::uint64_t seed) {
    config::Variant variant = load_run(scenario, seed);
    if (variant.collective) {
        isolated_already();  // an exchange is one simulation, which this process runs
        Json result = Json::parse(to_json(simulate_collective(variant.cluster, *variant.collective)));
        result.erase("schema_version");  // the store has its own
        return one_line(result);
    }
    require_memory(variant);
    Report report{"", {simulate(variant.lowered())}};
    report.results.front().variant = variant.name;
    return one_line(Json::parse(to_json(report)).at("results").front());
}

}  // namespace syncline::batch
