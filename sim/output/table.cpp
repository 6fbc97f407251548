#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/output/fidelity.hpp"
#include "sim/output/memory.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/parallelism.hpp"
#include "sim/output/text.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

std::string percent(double part) {
    return fmt::format("{:.1f} %", 100 * part);
}

std::string decimals(const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

/// Of a currency that nobody has named.
std::string amount(const std::optional<double>& value) {
    if (!value) return "-";
    return *value < 1000 ? fmt::format("{:.4g}", *value) : fmt::format("{:.0f}", *value);
}

}  // namespace

std::string to_table(const Report& report) {
    std::vector<Row> times{{"variant", "model", "ranks", "iteration", "compute", "communication", "exposed",
                            "closed form", "samples/s", "efficiency"}};
    std::vector<Row> traffic{{"variant", "messages", "sent", "most by a rank", "memory", "most used link", "used"}};
    std::vector<Row> splits{{"variant", "split", "bubble"}};
    std::vector<Row> costs{{"variant", "nodes", "device time", "cost", "per million samples"}};
    bool split_up = false, choices = false, priced = false;
    for (const Result& r : report.results) {
        const std::string name = r.variant + (r.best.value_or(false) ? " *" : "");
        splits.push_back(
            {name, split(r.parallelism, r.ranks), r.time.pipeline_bubble ? percent(*r.time.pipeline_bubble) : "-"});
        split_up = split_up || !r.parallelism.data_only();
        choices = choices || r.best;
        costs.push_back({name, fmt::format("{}", r.cost.nodes), seconds(r.cost.device_time_s), amount(r.cost.cost),
                         amount(r.cost.per_million_samples(r.samples))});
        priced = priced || r.cost.cost;
        times.push_back({name, r.workload, fmt::format("{}", r.ranks), seconds(r.time.iteration_s),
                         seconds(r.time.compute_s), seconds(r.time.communication_s),
                         seconds(r.time.exposed_communication_s), seconds(r.closed_form.iteration_time_s),
                         decimals(r.throughput_samples_per_s, 1), decimals(r.scaling_efficiency, 3)});
        const bool sent = !r.links.empty();
        traffic.push_back({name, fmt::format("{}", r.messages), bytes(r.bytes_sent), bytes(r.most_bytes_sent_by_rank),
                           memory(r.memory), sent ? r.links.front().name : "-",
                           sent ? percent(r.links.front().utilisation) : "-"});
    }
    std::string text = report.name + ": one iteration\n\n" + aligned(times) + "\n" + aligned(traffic);
    if (split_up) text.append("\n").append(aligned(splits, 2));
    if (priced) text.append("\n").append(aligned(costs));
    if (choices) text += "\n* the shortest iteration of a variant's grids (`grid: auto`)\n";
    if (const std::string lines = folded(report) + report_notes(report); !lines.empty()) text += "\n" + lines;
    return text;
}

std::string to_table(const CollectiveResult& r) {
    const std::string over = r.overlay.empty() ? "" : " over " + r.overlay;
    std::string text;
    std::vector<Row> rows{
        {r.operation + ", " + r.algorithm + over, fmt::format("{} ranks, {}", r.ranks, bytes(r.bytes))},
        {"completion time", seconds(r.completion_time_s)},
        {"closed form", seconds(r.closed_form_s)},
        {"messages", fmt::format("{}", r.messages)},
        {"sent", bytes(r.bytes_sent)},
        {"most by a rank", bytes(r.most_bytes_sent_by_rank)},
        {"algorithm bandwidth", bandwidth(r.algorithm_bandwidth_Bps)},
        {"bus bandwidth", bandwidth(r.bus_bandwidth_Bps)},
    };
    if (r.cost.cost) rows.push_back({"cost", amount(r.cost.cost)});
    constexpr std::size_t shown = 3;
    for (std::size_t i = 0; i < std::min(shown, r.links.size()); ++i) {
        rows.push_back(
            {i == 0 ? "most used links" : "", fmt::format("{}, {}", percent(r.links[i].utilisation), r.links[i].name)});
    }
    if (const std::string note = folded(r.folded); !note.empty()) text += note + "\n";
    text += notes(r.notes);
    return aligned(rows) + (text.empty() ? "" : "\n" + text);
}

}  // namespace syncline
