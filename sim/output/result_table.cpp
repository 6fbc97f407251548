#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "sim/analysis/scaling.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/percent.hpp"
#include "sim/base/utf8.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/fidelity_text.hpp"
#include "sim/output/field_cells.hpp"
#include "sim/output/jobs_output.hpp"
#include "sim/output/memory_text.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/parallelism_text.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/output/time_bars.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

std::string decimals(const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

/// Formats a number with three digits, or as many as its whole part has.
std::string three_digits(const std::optional<double>& value) {
    return !value ? "-" : *value < 100 ? fmt::format("{:.3g}", *value) : fmt::format("{:.0f}", *value);
}

/// Returns the sampled runs with failures; null if there are none.
const Goodput* goodput_of(const Result& result) {
    const bool sampled = result.run && result.run->failing && result.run->failing->goodput;
    return sampled ? &*result.run->failing->goodput : nullptr;
}

/// Formats the time between two checkpoints, for which minutes are usual.
std::string interval(double time_s) {
    constexpr double minute = 60, hour = 60 * minute;
    if (!std::isfinite(time_s)) return "-";
    if (time_s < 2 * minute) return seconds(time_s);
    return time_s < 3 * hour ? fmt::format("{:.3g} min", time_s / minute) : fmt::format("{:.3g} h", time_s / hour);
}

std::string name(const Result& result) {
    return result.variant + (result.best.value_or(false) ? " *" : "");
}

/// A column, and its cell in the row of a result.
struct ResultColumn {
    Column column;
    std::function<std::string(const Result&)> cell = {};  ///< empty: that of its field
};

std::string cell(const Json& value, Unit unit) {
    if (value.is_number()) return cell_of(value.get<double>(), unit);
    return value.is_null() ? "-" : value.is_boolean() ? (value.get<bool>() ? "yes" : "no") : value.get<std::string>();
}

constexpr auto if_any = Shown::if_any, if_varied = Shown::if_varied, if_chosen = Shown::if_chosen;

bool has_tokens(const Report& report) {
    return std::ranges::any_of(report.results, [](const Result& r) { return r.utilisation.tokens_per_s.has_value(); });
}

bool of_jobs(const Report& report) {
    return !report.results.empty() && report.results.front().jobs.has_value();
}

bool is_trace(const Report& report) {
    return std::ranges::all_of(report.results, [](const Result& r) { return r.samples == 0; });
}

std::vector<ResultColumn> times(bool tokens, bool trace) {
    const Shown of_samples = tokens || trace ? if_chosen : Shown::always;
    return {
        {{"iteration", "iteration_time_s"}},
        {{"compute", "compute_time_s"}},
        {{"communication", "communication_time_s", if_any}},
        {{"exposed", "exposed_communication_time_s", if_any}},
        {{"waiting", "waiting_time_s", if_any}},
        {{"idle", "idle_time_s", if_any}},
        {{"closed form", "closed_form.iteration_time_s", if_any}},
        {{"samples/s", "throughput_samples_per_s", of_samples},
         [](const Result& r) { return decimals(r.throughput_samples_per_s, 1); }},
        {{"scaling", "scaling", tokens || trace ? if_chosen : if_varied}},
        {{"efficiency", "scaling_efficiency", if_any},
         [](const Result& r) { return decimals(r.scaling_efficiency, 3); }},
    };
}

/// Returns the columns of results with several seeds, and of jitter.
std::vector<ResultColumn> spreads(const Report& report) {
    bool repeated = false, slowest = false;
    for (const Result& r : report.results) {
        repeated = repeated || r.repeated;
        slowest = slowest || r.expected_slowest_s;
    }
    const Shown of_repeated = repeated ? Shown::always : if_chosen, of_slowest = slowest ? Shown::always : if_chosen;
    return {
        {{"seeds", "repeats", of_repeated}},
        {{"mean", "iteration_time_mean_s", of_repeated}},
        {{"median", "iteration_time_median_s", of_repeated}},
        {{"5 %", "iteration_time_p05_s", of_repeated}},
        {{"95 %", "iteration_time_p95_s", of_repeated}},
        {{"slowest expected", "expected_slowest_s", of_slowest}},
        {{"slowest factor", "expected_slowest_factor", of_slowest},
         [](const Result& r) { return decimals(r.expected_slowest_factor, 4); }},
    };
}

/// Returns the columns of traffic, memory, and what only some results have.
std::vector<ResultColumn> others(const Report& report) {
    const bool tokens = has_tokens(report);
    bool divided = false, priced = false, whole = false, metered = false, failing = false, repaired = false;
    for (const Result& r : report.results) {
        divided = divided || !r.parallelism.whole_model() || r.parallelism.pipeline.micro_batches > 1;
        priced = priced || r.cost.cost;
        whole = whole || r.run;
        metered = metered || r.energy;
        failing = failing || (r.run && r.run->failing);
        repaired = repaired || (r.run && r.run->failing && r.run->failing->repair_s > 0);
    }
    const Shown of_split = divided ? Shown::always : if_chosen, of_cost = priced ? Shown::always : if_chosen;
    const Shown of_run = whole ? Shown::always : if_chosen, of_tokens = tokens ? Shown::always : if_chosen;
    const Shown of_failures = failing ? Shown::always : if_chosen;
    const Shown of_traffic = tokens ? if_chosen : if_any;
    return {
        {{"messages", "messages", of_traffic, Align::right, true},
         [](const Result& r) { return fmt::format("{}", r.messages); }},
        {{"sent", "bytes_sent", of_traffic}},
        {{"max per rank", "most_bytes_sent_by_rank", of_traffic}},
        {{"memory", "memory.total_bytes", tokens ? Shown::always : if_varied},
         [tokens](const Result& r) { return tokens ? memory_GiB(r.memory) : memory(r.memory); }},
        {{"busiest link", "most_used_link", if_any, Align::right, true},
         [](const Result& r) { return r.links.empty() ? "-" : r.links.front().name; }},
        {{"utilisation", "most_used_link_utilisation", if_any},
         [](const Result& r) { return r.links.empty() ? "-" : percent(r.links.front().utilisation); }},
        {{"limited by", "limited_by", if_any}},
        {{"split", "", of_split, Align::left, true}, [](const Result& r) { return split(r.parallelism, r.ranks); }},
        {{"mbs", "", if_chosen},
         [](const Result& r) {
             const auto replicas = columns(r.parallelism, r.parallelism.layout, r.ranks);
             const auto number = static_cast<double>(replicas * r.parallelism.pipeline.micro_batches);
             return fmt::format("{:g}", static_cast<double>(r.samples) / number);
         }},
        {{"bubble", "pipeline_bubble", of_split},
         [](const Result& r) { return r.time.pipeline_bubble ? percent(*r.time.pipeline_bubble) : "-"; }},
        {{"tokens/s/GPU", "tokens_per_s_per_device", of_tokens},
         [](const Result& r) { return three_digits(r.utilisation.tokens_per_s_per_device); }},
        {{"TFLOP/s/GPU", "tflops_per_device", of_tokens},
         [](const Result& r) { return three_digits(r.utilisation.tflops_per_device); }},
        {{tokens ? "MFU, full attention" : "MFU", "model_flops_utilisation", of_tokens},
         [](const Result& r) { return r.utilisation.model_flops ? percent(*r.utilisation.model_flops) : "-"; }},
        {{tokens ? "HFU, executed" : "HFU", "hardware_flops_utilisation", if_chosen}},
        {{"nodes", "nodes", of_cost, Align::right, true},
         [](const Result& r) { return fmt::format("{}", r.cost.nodes); }},
        {{"device time", "device_time_s", tokens ? if_chosen : of_cost}},
        {{"cost", "cost", of_cost}},
        {{"per million samples", "cost_per_million_samples", tokens || is_trace(report) ? if_chosen : of_cost}},
        {{"whole run", "run_time_s", of_run}},
        {{"cost of run", "run_cost", whole && priced ? Shown::always : if_chosen}},
        {{"energy", "energy_J", metered && !whole ? Shown::always : if_chosen}},
        {{"energy per million samples", "energy_per_million_samples_J", if_chosen}},
        {{"mean power", "power_W", metered ? Shown::always : if_chosen}},
        {{"energy of run", "run_energy_J", whole && metered ? Shown::always : if_chosen}},
        {{"median with failures", "run_elapsed_median_s", of_failures, Align::right, true}},
        {{"run 5 %", "run_elapsed_p05_s", of_failures}},
        {{"run 95 %", "run_elapsed_p95_s", of_failures}},
        {{"median cost", "run_elapsed_cost_median", failing && priced ? Shown::always : if_chosen}},
        {{"median energy", "run_elapsed_energy_median_J", failing && metered ? Shown::always : if_chosen}},
        {{"mean failures", "run_failures", of_failures},
         [](const Result& r) {
             const Goodput* const sampled = goodput_of(r);
             return sampled ? three_digits(sampled->mean.failures) : "-";
         }},
        {{"goodput", "run_goodput", of_failures},
         [](const Result& r) {
             const Goodput* const sampled = goodput_of(r);
             return sampled ? percent(sampled->goodput()) : "-";
         }},
        {{"mean waiting", "run_waiting_s", repaired ? Shown::always : if_chosen}},
        {{"mean slower", "run_slower_s", repaired ? Shown::always : if_chosen}},
        {{"checkpoint every", "run_checkpoint_interval_s", of_failures},
         [](const Result& r) { return r.run && r.run->failing ? interval(r.run->failing->interval_s) : "-"; }},
        {{"optimum", "run_daly_interval_s", of_failures},
         [](const Result& r) { return r.run && r.run->failing ? interval(r.run->failing->daly_s) : "-"; }},
    };
}

/// Moves what planners of language models ask for to the front, behind the columns that name a row.
void lead_with_plan(std::vector<ResultColumn>& columns) {
    constexpr std::array asked{"iteration_time_s",   "tokens_per_s_per_device",
                               "tflops_per_device",  "model_flops_utilisation",
                               "memory.total_bytes", "run_time_s",
                               "run_cost",           "limited_by"};
    auto place = columns.begin() + 3;
    for (const char* field : asked) {
        const auto found = std::ranges::find_if(columns, [&](const auto& one) { return one.column.field == field; });
        std::rotate(place, found, found + 1);
        ++place;
    }
    place->column.begins = true;
}

/// Returns all columns: the main ones, then the remaining fields of a result, which can be chosen.
std::vector<ResultColumn> columns_of(const Report& report) {
    std::vector<ResultColumn> all{
        {{"variant", "variant"}, name},
        {{"model", "workload", if_varied}},
        {{"ranks", "ranks", if_varied}, [](const Result& r) { return fmt::format("{}", r.ranks); }},
    };
    for (auto& part : {times(has_tokens(report), is_trace(report)), spreads(report), others(report)})
        all.insert(all.end(), part.begin(), part.end());
    if (has_tokens(report)) lead_with_plan(all);
    for (const ResultField<Result>& field : fields_of<Result>()) {
        const auto cell_of_field = [&field](const Result& r) { return cell(field.value(r), field.unit); };
        const auto there = std::find_if(all.begin(), all.end(),
                                        [&](const ResultColumn& one) { return one.column.field == field.name; });
        if (there != all.end() && !there->cell)
            there->cell = cell_of_field;
        else if (there == all.end() && field.unit != Unit::list && *field.doc != '\0')
            all.push_back({{heading_of(field.name), field.name, if_chosen}, cell_of_field});
    }
    return all;
}

}  // namespace

std::vector<Column> table_columns(const Report& report) {
    if (of_jobs(report)) return job_columns(report.results);
    std::vector<Column> columns;
    for (ResultColumn& one : columns_of(report)) {
        for (const Result& r : report.results) one.column.cells.push_back(one.cell(r));
        columns.push_back(std::move(one.column));
    }
    return columns;
}

std::string to_table(const Report& report, const TableLayout& layout) {
    if (of_jobs(report)) return jobs_table(report.name, report.results, layout);
    const Table table(table_columns(report), layout);
    std::string text = report.name + ": one iteration";
    if (const std::string& alike = table.alike(); !alike.empty()) {
        const bool fits = layout.width == 0 || count_characters(text) + alike.size() + 2 <= layout.width;
        text += fits ? ", " + alike : fmt::format("\n{}", fmt::join(broken(alike, layout.width), "\n"));
    }
    text += "\n\n" + (report.results.size() == 1 ? table.list() : table.text());
    std::vector<const Result*> drawn;
    for (const Result& r : report.results) drawn.push_back(&r);
    if (const std::string bars = time_bars(drawn, layout); !bars.empty()) text += "\n" + bars;
    if (any_of(report.results.begin(), report.results.end(), [](const Result& r) { return r.best.has_value(); }))
        text += "\n* shortest iteration among a variant's grids (`model: auto`)\n";
    if (const std::string lines = folded(report) + report_notes(report); !lines.empty()) text += "\n" + lines;
    return text;
}

std::string to_table(const CollectiveResult& r, const TableLayout& layout) {
    const std::string over = r.overlay.empty() ? "" : " over " + r.overlay;
    std::string text;
    std::vector<Row> rows{
        {r.operation + ", " + r.algorithm + over, fmt::format("{}, {}", counted(r.ranks, "rank"), bytes(r.bytes))},
        {"completion time", seconds(r.completion_time_s)},
        {"closed form", seconds(r.closed_form_s)},
        {"messages", fmt::format("{}", r.messages)},
        {"sent", bytes(r.bytes_sent)},
        {"max per rank", bytes(r.most_bytes_sent_by_rank)},
        {"algorithm bandwidth", bandwidth(r.algorithm_bandwidth_Bps)},
        {"bus bandwidth", bandwidth(r.bus_bandwidth_Bps)},
    };
    if (!r.limited_by.empty()) rows.push_back({"limited by", r.limited_by});
    if (r.cost.cost) rows.push_back({"cost", cell_of(*r.cost.cost, Unit::money)});
    constexpr std::size_t shown = 3;
    for (std::size_t i = 0; i < std::min(shown, r.links.size()); ++i) {
        rows.push_back(
            {i == 0 ? "busiest links" : "", fmt::format("{}, {}", percent(r.links[i].utilisation), r.links[i].name)});
    }
    if (const std::string note = folded(r.folded); !note.empty()) text += note + "\n";
    text += notes(r.notes);
    return aligned(rows, 0, layout) + (text.empty() ? "" : "\n" + text);
}

}  // namespace syncline
