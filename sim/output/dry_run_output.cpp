#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sim/base/counted.hpp"
#include "sim/base/version.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/fidelity_text.hpp"
#include "sim/output/json_text.hpp"
#include "sim/output/memory_text.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

std::uint64_t whole_count(double count) {
    constexpr double most = 9e18;
    return static_cast<std::uint64_t>(std::round(std::min(count, most)));
}

Json object(const PlannedExchange& exchange) {
    return {{"bytes", exchange.bytes},
            {"times", exchange.times},
            {"layers", exchange.layers},
            {"ready_s", number_or_null(exchange.ready_s)},
            {"release_s", number_or_null(exchange.release_s)},
            {"algorithm", exchange.algorithm},
            {"protocol", text_or_null(exchange.protocol)},
            {"why", exchange.why}};
}

Json object(const Estimate& estimate) {
    return {{"tasks", whole_count(estimate.work.tasks)},
            {"messages", whole_count(estimate.work.messages)},
            {"iterations", estimate.iterations},
            {"messages_simulated", whole_count(estimate.messages)},
            {"memory_bytes", whole_count(estimate.memory_bytes)},
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

/// Numbers sentences, so that each is written once, at the end.
class Footnotes {
public:
    /// Returns "[2]", the mark of `sentence`.
    std::string mark(const std::string& sentence) {
        const auto known = std::find(sentences_.begin(), sentences_.end(), sentence);
        const auto number = known - sentences_.begin() + 1;
        if (known == sentences_.end()) sentences_.push_back(sentence);
        return fmt::format("[{}]", number);
    }
    std::string text() const {
        std::string text = sentences_.empty() ? "" : "\n";
        for (std::size_t i = 0; i < sentences_.size(); ++i) text += fmt::format("[{}] {}\n", i + 1, sentences_[i]);
        return text;
    }

private:
    std::vector<std::string> sentences_;
};

Table exchanges_of(const DryRun& run, const TableLayout& layout, Footnotes& reasons) {
    const bool released = std::any_of(run.exchanges.begin(), run.exchanges.end(), [](const PlannedExchange& exchange) {
        return seconds(exchange.ready_s) != seconds(exchange.release_s);
    });
    std::vector<Column> columns{{"bytes"},
                                {"times", "", Shown::if_any},
                                {"layers", "", Shown::if_any},
                                {"ready", "", Shown::if_any},
                                {"released", "", released ? Shown::if_any : Shown::if_chosen},
                                {"algorithm", "", Shown::if_varied, Align::left},
                                {"protocol", "", Shown::if_varied, Align::left},
                                {"why", "", Shown::if_varied, Align::left}};
    for (const PlannedExchange& exchange : run.exchanges) {
        add_row(columns, {bytes(exchange.bytes), exchange.times > 1 ? fmt::format("{}", exchange.times) : "-",
                          span(exchange.layers), seconds(exchange.ready_s), seconds(exchange.release_s),
                          exchange.algorithm, exchange.protocol, reasons.mark(exchange.why)});
    }
    return Table(std::move(columns), layout);
}

/// Describes the run of a variant, whose name comes before it.
std::string text_of(const DryRun& run, const TableLayout& layout, Footnotes& reasons) {
    std::string text = run.workload.empty() ? run.operation : run.workload + ", " + run.operation;
    text += fmt::format(", {}\n\n", counted(run.ranks, "rank"));
    if (run.memory) text += fmt::format("memory: {}: {}\n", memory(*run.memory), kinds_of(*run.memory));
    text += fmt::format("simulation: {}\n", words_of(run.estimate));
    const FidelityChoice& choice = run.estimate.fidelity;
    if (choice.asked != Fidelity::message)
        text += fmt::format("fidelity: {} {}\n", fidelity(choice), reasons.mark("fidelity: " + asked(choice)));
    if (run.exchanges.empty()) return text + "no exchanges\n";
    const Table exchanges = exchanges_of(run, layout, reasons);
    if (!exchanges.alike().empty()) text += fmt::format("exchanges: {}\n", exchanges.alike());
    return text + "\n" + exchanges.text();
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
                             "simulation_memory_bytes", "simulation_wall_time_s", "times"});
    for (const DryRun& run : report.results)
        for (const PlannedExchange& exchange : run.exchanges)
            text +=
                line({quoted(run.variant), quoted(run.workload), field(run.ranks), run.operation, field(exchange.bytes),
                      quoted(fmt::format("{}", fmt::join(exchange.layers, " "))), field(exchange.ready_s),
                      field(exchange.release_s), exchange.algorithm, quoted(exchange.protocol), quoted(exchange.why),
                      memory_values(run.memory), fidelity(run.estimate.fidelity),
                      field(whole_count(run.estimate.messages)), field(whole_count(run.estimate.memory_bytes)),
                      field(run.estimate.time_s), field(static_cast<std::int64_t>(exchange.times))});
    return text;
}

std::string to_table(const DryRunReport& report, const TableLayout& layout) {
    Footnotes reasons;
    // Variants with the same text are told together.
    std::vector<std::pair<std::string, std::vector<std::string>>> variants_by_text;
    for (const DryRun& run : report.results) {
        std::string text = text_of(run, layout, reasons);
        const auto known = std::find_if(variants_by_text.begin(), variants_by_text.end(),
                                        [&](const auto& entry) { return entry.first == text; });
        if (known == variants_by_text.end())
            variants_by_text.push_back({std::move(text), {run.variant}});
        else
            known->second.push_back(run.variant);
    }
    std::string all = report.name + ": dry run\n";
    for (const auto& [text, variants] : variants_by_text) {
        const std::string head = fmt::format("{}", fmt::join(variants, ", "));
        all += fmt::format("\n{}{}{}", head, head.empty() ? "" : ": ", text);
    }
    return all + reasons.text();
}

}  // namespace syncline
