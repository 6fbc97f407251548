#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/analysis/scaling.hpp"
#include "sim/base/percent.hpp"
#include "sim/output/fidelity.hpp"
#include "sim/output/memory.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/parallelism.hpp"
#include "sim/output/text.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

std::string decimals(const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

/// Formats an amount of money; the currency is unknown.
std::string amount(const std::optional<double>& value) {
    if (!value) return "-";
    return *value < 1000 ? fmt::format("{:.4g}", *value) : fmt::format("{:.0f}", *value);
}

std::string name(const Result& result) {
    return result.variant + (result.best.value_or(false) ? " *" : "");
}

template <class Has>
bool any(const Report& report, Has has) {
    return std::any_of(report.results.begin(), report.results.end(), has);
}

/// Returns one row per variant. Columns for waiting and idle time exist only if some variant has such time. The heading
/// of the efficiency names the kind of scaling; if variants differ in it, an additional column does.
std::vector<Row> times_table(const Report& report) {
    const bool waits = any(report, [](const Result& r) { return r.time.waiting_s > 1e-9 * r.time.iteration_s; });
    const bool idles = any(report, [](const Result& r) { return r.time.idle_s > 0; });
    const bool mixed = any(report, [&](const Result& r) { return r.scaling != report.results.front().scaling; });
    std::vector<Row> rows{{"variant", "model", "ranks", "iteration", "compute", "communication", "exposed"}};
    if (waits) rows.front().push_back("waiting");
    if (idles) rows.front().push_back("idle");
    rows.front().insert(rows.front().end(), {"closed form", "samples/s"});
    if (mixed) rows.front().push_back("scaling");
    rows.front().push_back(mixed || report.results.empty()
                               ? "efficiency"
                               : fmt::format("{} efficiency", name_of(report.results.front().scaling)));
    for (const Result& r : report.results) {
        Row row{name(r),
                r.workload,
                fmt::format("{}", r.ranks),
                seconds(r.time.iteration_s),
                seconds(r.time.compute_s),
                seconds(r.time.communication_s),
                seconds(r.time.exposed_communication_s)};
        if (waits) row.push_back(seconds(r.time.waiting_s));
        if (idles) row.push_back(seconds(r.time.idle_s));
        row.insert(row.end(), {seconds(r.closed_form.iteration_time_s), decimals(r.throughput_samples_per_s, 1)});
        if (mixed) row.push_back(name_of(r.scaling));
        row.push_back(decimals(r.scaling_efficiency, 3));
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

std::string to_table(const Report& report) {
    std::vector<Row> traffic{{"variant", "messages", "sent", "max per rank", "memory", "busiest link", "utilisation"}};
    std::vector<Row> splits{{"variant", "split", "bubble"}};
    std::vector<Row> costs{{"variant", "nodes", "device time", "cost", "per million samples"}};
    bool split_up = false, choices = false, priced = false;
    for (const Result& r : report.results) {
        splits.push_back(
            {name(r), split(r.parallelism, r.ranks), r.time.pipeline_bubble ? percent(*r.time.pipeline_bubble) : "-"});
        split_up = split_up || !r.parallelism.data_only();
        choices = choices || r.best;
        costs.push_back({name(r), fmt::format("{}", r.cost.nodes), seconds(r.cost.device_time_s), amount(r.cost.cost),
                         amount(r.cost.per_million_samples(r.samples))});
        priced = priced || r.cost.cost;
        const bool sent = !r.links.empty();
        traffic.push_back({name(r), fmt::format("{}", r.messages), bytes(r.bytes_sent),
                           bytes(r.most_bytes_sent_by_rank), memory(r.memory), sent ? r.links.front().name : "-",
                           sent ? percent(r.links.front().utilisation) : "-"});
    }
    std::string text = report.name + ": one iteration\n\n" + aligned(times_table(report)) + "\n" + aligned(traffic);
    if (split_up) text.append("\n").append(aligned(splits, 2));
    if (priced) text.append("\n").append(aligned(costs));
    if (choices) text += "\n* shortest iteration among a variant's grids (`grid: auto`)\n";
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
        {"max per rank", bytes(r.most_bytes_sent_by_rank)},
        {"algorithm bandwidth", bandwidth(r.algorithm_bandwidth_Bps)},
        {"bus bandwidth", bandwidth(r.bus_bandwidth_Bps)},
    };
    if (r.cost.cost) rows.push_back({"cost", amount(r.cost.cost)});
    constexpr std::size_t shown = 3;
    for (std::size_t i = 0; i < std::min(shown, r.links.size()); ++i) {
        rows.push_back(
            {i == 0 ? "busiest links" : "", fmt::format("{}, {}", percent(r.links[i].utilisation), r.links[i].name)});
    }
    if (const std::string note = folded(r.folded); !note.empty()) text += note + "\n";
    text += notes(r.notes);
    return aligned(rows) + (text.empty() ? "" : "\n" + text);
}

}  // namespace syncline
