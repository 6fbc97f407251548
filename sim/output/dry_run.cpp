#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/base/version.hpp"
#include "sim/output/fidelity.hpp"
#include "sim/output/fields.hpp"
#include "sim/output/json_text.hpp"
#include "sim/output/memory.hpp"
#include "sim/output/text.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

std::uint64_t counted(double count) {
    constexpr double most = 9e18;
    return static_cast<std::uint64_t>(std::round(std::min(count, most)));
}

Json object(const PlannedExchange& exchange) {
    return {{"bytes", exchange.bytes},
            {"layers", exchange.layers},
            {"ready_s", number_or_null(exchange.ready_s)},
            {"release_s", number_or_null(exchange.release_s)},
            {"algorithm", exchange.algorithm},
            {"protocol", text_or_null(exchange.protocol)},
            {"why", exchange.why}};
}

Json object(const Estimate& estimate) {
    return {{"tasks", counted(estimate.work.tasks)},
            {"messages", counted(estimate.work.messages)},
            {"iterations", estimate.iterations},
            {"messages_simulated", counted(estimate.messages)},
            {"memory_bytes", counted(estimate.memory_bytes)},
            {"wall_time_s", estimate.time_s}};
}

std::string memory_names() {
    std::string names;
    for (const auto& [column, name] : csv_names<Memory>()) names += (names.empty() ? "memory_" : ",memory_") + name;
    return names;
}
std::string memory_values(const std::optional<Memory>& memory) {
    std::string values;
    for (const auto& [column, value] : csv_values(memory.value_or(Memory{})))
        values += (column == 1 ? "" : ",") + (memory ? value : "");
    return values;
}

/// Returns "conv5_3" or "fc7 to fc6 (2)", in backward order.
std::string span(const std::vector<std::string>& layers) {
    if (layers.size() < 2) return layers.empty() ? "-" : layers.front();
    return fmt::format("{} to {} ({})", layers.front(), layers.back(), layers.size());
}

}  // namespace

std::string to_json(const DryRunReport& report) {
    Json results = Json::array();
    for (const DryRun& run : report.results) {
        Json exchanges = Json::array();
        for (const PlannedExchange& exchange : run.exchanges) exchanges.push_back(object(exchange));
        results.push_back({{"variant", text_or_null(run.variant)},
                           {"workload", text_or_null(run.workload)},
                           {"ranks", run.ranks},
                           {"operation", run.operation},
                           {"fidelity", fidelity(run.estimate.fidelity)},
                           {"fidelity_why", text_or_null(run.estimate.fidelity.why)},
                           {"simulation", object(run.estimate)},
                           {"memory", run.memory ? object_of(*run.memory) : Json(nullptr)},
                           {"exchanges", std::move(exchanges)}});
    }
    return dumped({{"schema_version", result_schema_version}, {"name", report.name}, {"dry_run", std::move(results)}});
}

std::string to_csv(const DryRunReport& report) {
    std::string text = line({"variant", "workload", "ranks", "operation", "bytes", "layers", "ready_s", "release_s",
                             "algorithm", "protocol", "why", memory_names(), "fidelity", "messages_simulated",
                             "simulation_memory_bytes", "simulation_wall_time_s"});
    for (const DryRun& run : report.results)
        for (const PlannedExchange& exchange : run.exchanges)
            text +=
                line({quoted(run.variant), quoted(run.workload), field(run.ranks), run.operation, field(exchange.bytes),
                      quoted(fmt::format("{}", fmt::join(exchange.layers, " "))), field(exchange.ready_s),
                      field(exchange.release_s), exchange.algorithm, quoted(exchange.protocol), quoted(exchange.why),
                      memory_values(run.memory), fidelity(run.estimate.fidelity), field(counted(run.estimate.messages)),
                      field(counted(run.estimate.memory_bytes)), field(run.estimate.time_s)});
    return text;
}

std::string to_table(const DryRunReport& report) {
    std::string text = report.name + ": dry run\n";
    for (const DryRun& run : report.results) {
        const std::string what = run.workload.empty() ? run.operation : run.workload + ", " + run.operation;
        const std::string head = run.variant.empty() ? "" : run.variant + ": ";
        text += fmt::format("\n{}{}, {} ranks\n\n", head, what, run.ranks);
        if (run.memory) text += fmt::format("memory: {}: {}\n\n", memory(*run.memory), kinds_of(*run.memory));
        text += fmt::format("simulation: {}\n\n", words_of(run.estimate));
        if (run.estimate.fidelity.asked != Fidelity::message)
            text += fmt::format("fidelity: {} ({})\n\n", fidelity(run.estimate.fidelity), asked(run.estimate.fidelity));
        if (run.exchanges.empty()) {
            text += "no exchanges\n";
            continue;
        }
        std::vector<Row> rows{{"bytes", "layers", "ready", "released", "algorithm", "protocol", "why"}};
        for (const PlannedExchange& exchange : run.exchanges)
            rows.push_back({bytes(exchange.bytes), span(exchange.layers), seconds(exchange.ready_s),
                            seconds(exchange.release_s), exchange.algorithm,
                            exchange.protocol.empty() ? "-" : exchange.protocol, exchange.why});
        text += aligned(rows, 3);
    }
    return text;
}

}  // namespace syncline
