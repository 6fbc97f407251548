#include "sim/planning/answer_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/output/cells.hpp"
#include "sim/output/json_text.hpp"
#include "sim/output/notes.hpp"
#include "sim/planning/published_plans.hpp"

namespace syncline::planning {

using namespace text;

namespace {

constexpr double day_s = 86400, GiB = 1024.0 * 1024.0 * 1024.0;

using Quantiles = syncline::Spread;  // not that of published runs

std::optional<double> days(const Answer& answer) {
    return answer.run ? std::optional(answer.run->time_s / day_s) : std::nullopt;
}

std::optional<double> longer_s(const Answer& answer, double factor) {
    return answer.run && factor > 0 ? std::optional(factor * answer.run->time_s) : std::nullopt;
}

std::string energy(const std::optional<double>& joules) {
    return joules ? format_quantity(*joules, Dimension::energy) : "-";
}

/// Returns "44.1 to 49.5".
std::string days_by_runs(const Answer& answer) {
    const std::optional<double> least_s = longer_s(answer, answer.published.least);
    if (!least_s) return "-";
    return fmt::format("{:.3g} to {:.3g}", *least_s / day_s, *longer_s(answer, answer.published.most) / day_s);
}

Json json_of(const Spread& spread) {
    if (!spread.any()) return nullptr;
    Json runs = Json::array();
    for (const PublishedRun& run : spread.runs)
        runs.push_back({{"run", run.name},
                        {"device", run.device},
                        {"ranks", run.ranks},
                        {"workload", run.model},
                        {"measured_by_predicted", run.measured_by_predicted}});
    return {{"least", spread.least}, {"most", spread.most}, {"runs", std::move(runs)}};
}

std::optional<double> run_cost(const Answer& answer) {
    return answer.run ? answer.run->cost : std::nullopt;
}

std::optional<double> run_energy_J(const Answer& answer) {
    return answer.run ? answer.run->energy_J : std::nullopt;
}

/// Returns the sampled runs with failures; null if there are none.
const Goodput* goodput_of(const Answer& answer) {
    const bool sampled = answer.run && answer.run->failing && answer.run->failing->goodput;
    return sampled ? &*answer.run->failing->goodput : nullptr;
}

/// Returns a quantile of the elapsed time with failures, or nothing.
std::optional<double> elapsed_s(const Answer& answer, double Quantiles::*quantile) {
    const Goodput* const sampled = goodput_of(answer);
    return sampled ? std::optional(sampled->elapsed_s.*quantile) : std::nullopt;
}

std::optional<double> elapsed_cost(const Answer& answer, double Quantiles::*quantile) {
    const std::optional<double> seconds = elapsed_s(answer, quantile);
    return seconds ? answer.run->cost_of(*seconds) : std::nullopt;
}

std::optional<double> elapsed_energy_J(const Answer& answer, double Quantiles::*quantile) {
    if (!goodput_of(answer) || !answer.run->failing->energy_J) return std::nullopt;
    return (*answer.run->failing->energy_J).*quantile;
}

std::optional<double> goodput(const Answer& answer) {
    const Goodput* const sampled = goodput_of(answer);
    return sampled ? std::optional(sampled->goodput()) : std::nullopt;
}

std::optional<double> failures(const Answer& answer) {
    const Goodput* const sampled = goodput_of(answer);
    return sampled ? std::optional(sampled->mean.failures) : std::nullopt;
}

std::optional<double> interval_s(const Answer& answer) {
    const bool known = answer.run && answer.run->failing;
    return known ? std::optional(answer.run->failing->interval_s) : std::nullopt;
}

/// Returns "40.7 (40.2 to 41.3)": median, 5 and 95 %.
std::string days_with_failures(const Answer& answer) {
    const Goodput* const sampled = goodput_of(answer);
    if (!sampled) return answer.run && answer.run->failing ? "no end" : "-";
    const Quantiles& elapsed = sampled->elapsed_s;
    return fmt::format("{:.3g} ({:.3g} to {:.3g})", elapsed.median / day_s, elapsed.p05 / day_s, elapsed.p95 / day_s);
}

std::string rounded(const std::optional<double>& value, const char* format) {
    return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string money(const std::optional<double>& value) {
    if (!value) return "-";
    constexpr double rounded = 100;  // below, cents count
    if (*value < rounded) return fmt::format("{:.3g}", *value);
    return *value < 1e6 ? fmt::format("{:.0f}", *value) : fmt::format("{:.3g} M", *value / 1e6);
}

std::string percent(const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", 100 * *value) : "-";
}

std::string gibibytes(const Memory& memory) {
    const std::string used = fmt::format("{:.1f}", memory.total_bytes() / GiB);
    return memory.device_bytes ? fmt::format("{} of {:.1f} GiB", used, *memory.device_bytes / GiB) : used + " GiB";
}

/// Returns "ports x2 4.1 % faster; no change: NVLink x2, latency /2".
std::string text_of(const std::vector<Effect>& effects) {
    std::vector<std::string> some, none;
    for (const Effect& effect : effects) {
        const double faster = 1 / effect.factor - 1;
        constexpr double least = 5e-4;
        if (std::abs(faster) < least)
            none.push_back(effect.words);
        else
            some.push_back(faster > 0 ? fmt::format("{} {:.1f} % faster", effect.words, 100 * faster)
                                      : fmt::format("{} {:.1f} % slower", effect.words, 100 * (effect.factor - 1)));
    }
    if (!none.empty()) some.push_back(fmt::format("no change: {}", fmt::join(none, ", ")));
    return fmt::format("{}", fmt::join(some, "; "));
}

Json json_of(const TimeShares& shares) {
    return {
        {"computation_s", shares.computation_s}, {"bubble_s", shares.bubble_s}, {"exchanges_s", shares.exchanges_s}};
}

Json json_of(const Answer& answer) {
    const Memory& memory = answer.found.memory;
    Json json{{"platform", answer.platform},
              {"ranks", answer.ranks},
              {"batch", answer.batch},
              {"place", answer.rank},
              {"plan", answer.words},
              {"parallelism", answer.found.text},
              {"recomputation", text_or_null(answer.found.recomputation)},
              {"iteration_time_s", answer.iteration_s},
              {"simulated", answer.simulated},
              {"estimated_time_s", answer.found.estimated_s},
              {"tokens_per_s_per_device", number_or_null(answer.utilisation.tokens_per_s_per_device)},
              {"tflops_per_device", number_or_null(answer.utilisation.tflops_per_device)},
              {"model_flops_utilisation", number_or_null(answer.utilisation.model_flops)},
              {"memory_total_bytes", memory.total_bytes()},
              {"memory_device_bytes", number_or_null(memory.device_bytes)},
              {"nodes", answer.cost.nodes},
              {"run_time_s", number_or_null(answer.run ? std::optional(answer.run->time_s) : std::nullopt)},
              {"run_cost", number_or_null(run_cost(answer))},
              {"run_elapsed_median_s", number_or_null(elapsed_s(answer, &Quantiles::median))},
              {"run_elapsed_p05_s", number_or_null(elapsed_s(answer, &Quantiles::p05))},
              {"run_elapsed_p95_s", number_or_null(elapsed_s(answer, &Quantiles::p95))},
              {"run_elapsed_cost_median", number_or_null(elapsed_cost(answer, &Quantiles::median))},
              {"run_elapsed_cost_p05", number_or_null(elapsed_cost(answer, &Quantiles::p05))},
              {"run_elapsed_cost_p95", number_or_null(elapsed_cost(answer, &Quantiles::p95))},
              {"run_failures", number_or_null(failures(answer))},
              {"run_goodput", number_or_null(goodput(answer))},
              {"run_checkpoint_interval_s", number_or_null(interval_s(answer))},
              {"run_time_least_s", number_or_null(longer_s(answer, answer.published.least))},
              {"run_time_most_s", number_or_null(longer_s(answer, answer.published.most))},
              {"published", json_of(answer.published)},
              {"limited_by", text_or_null(answer.limited_by)},
              {"effects", Json::array()},
              {"shares", answer.rank == 1 ? json_of(answer.shares) : Json(nullptr)},
              {"published_plans", Json::array()}};
    if (answer.energy) json["energy_J"] = answer.energy->total_J();
    if (const auto whole_J = run_energy_J(answer)) json["run_energy_J"] = *whole_J;
    if (elapsed_energy_J(answer, &Quantiles::median)) {
        json["run_elapsed_energy_median_J"] = *elapsed_energy_J(answer, &Quantiles::median);
        json["run_elapsed_energy_p05_J"] = *elapsed_energy_J(answer, &Quantiles::p05);
        json["run_elapsed_energy_p95_J"] = *elapsed_energy_J(answer, &Quantiles::p95);
    }
    for (const Beside& one : answer.beside)
        json["published_plans"].push_back(
            {{"run", one.run.name},
             {"plan", one.words},
             {"parallelism", one.text},
             {"recomputation", text_or_null(one.recomputation)},
             {"fits", one.fits},
             {"estimated_time_s", number_or_null(one.fits ? std::optional(one.shares.total_s()) : std::nullopt)},
             {"shares", one.fits ? json_of(one.shares) : Json(nullptr)},
             {"memory_total_bytes", one.memory.total_bytes()}});
    for (const Effect& effect : answer.effects)
        json["effects"].push_back({{"change", effect.change}, {"words", effect.words}, {"time_factor", effect.factor}});
    return json;
}

}  // namespace

std::string ranks_of(std::int64_t number) {
    return fmt::format("{} rank{}", number, number == 1 ? "" : "s");
}

std::string line_of(const Answer& answer) {
    std::string whole = answer.run ? fmt::format(", {:.3g} days", *days(answer)) : "";
    if (answer.run && answer.published.any()) whole += fmt::format(" ({} by published runs)", days_by_runs(answer));
    return fmt::format("{}, {}: {}{}, {}", answer.platform, ranks_of(answer.ranks), seconds(answer.iteration_s), whole,
                       answer.words);
}

std::string to_json(const AnswerTable& table) {
    Json json{{"schema_version", 1}, {"workload", table.model}, {"answers", Json::array()}, {"notes", table.notes}};
    for (const Answer& answer : table.answers) json["answers"].push_back(json_of(answer));
    return dumped(json);
}

std::string to_csv(const AnswerTable& table) {
    const bool metered =
        std::ranges::any_of(table.answers, [](const Answer& one) { return run_energy_J(one).has_value(); });
    std::vector<std::string> names{"platform",
                                   "ranks",
                                   "batch",
                                   "place",
                                   "plan",
                                   "parallelism",
                                   "recomputation",
                                   "iteration_time_s",
                                   "simulated",
                                   "estimated_time_s",
                                   "tokens_per_s_per_device",
                                   "tflops_per_device",
                                   "model_flops_utilisation",
                                   "memory_total_bytes",
                                   "memory_device_bytes",
                                   "nodes",
                                   "run_time_s",
                                   "run_cost",
                                   "limited_by",
                                   "run_time_least_s",
                                   "run_time_most_s",
                                   "run_elapsed_median_s",
                                   "run_elapsed_p05_s",
                                   "run_elapsed_p95_s",
                                   "run_elapsed_cost_median",
                                   "run_elapsed_cost_p05",
                                   "run_elapsed_cost_p95",
                                   "run_failures",
                                   "run_goodput",
                                   "run_checkpoint_interval_s"};
    if (metered) names.emplace_back("run_energy_J");
    const bool with_failures = std::ranges::any_of(
        table.answers, [](const Answer& one) { return elapsed_energy_J(one, &Quantiles::median).has_value(); });
    if (with_failures)
        names.insert(names.end(),
                     {"run_elapsed_energy_median_J", "run_elapsed_energy_p05_J", "run_elapsed_energy_p95_J"});
    std::string text = line(names);
    for (const Answer& one : table.answers) {
        std::vector<std::string> cells{quoted(one.platform),
                                       field(one.ranks),
                                       field(one.batch),
                                       field(one.rank),
                                       quoted(one.words),
                                       quoted(one.found.text),
                                       one.found.recomputation,
                                       field(one.iteration_s),
                                       one.simulated ? "true" : "false",
                                       field(one.found.estimated_s),
                                       field(one.utilisation.tokens_per_s_per_device),
                                       field(one.utilisation.tflops_per_device),
                                       field(one.utilisation.model_flops),
                                       field(one.found.memory.total_bytes()),
                                       field(one.found.memory.device_bytes),
                                       field(one.cost.nodes),
                                       field(one.run ? std::optional(one.run->time_s) : std::nullopt),
                                       field(run_cost(one)),
                                       one.limited_by,
                                       field(longer_s(one, one.published.least)),
                                       field(longer_s(one, one.published.most)),
                                       field(elapsed_s(one, &Quantiles::median)),
                                       field(elapsed_s(one, &Quantiles::p05)),
                                       field(elapsed_s(one, &Quantiles::p95)),
                                       field(elapsed_cost(one, &Quantiles::median)),
                                       field(elapsed_cost(one, &Quantiles::p05)),
                                       field(elapsed_cost(one, &Quantiles::p95)),
                                       field(failures(one)),
                                       field(goodput(one)),
                                       field(interval_s(one))};
        if (metered) cells.push_back(field(run_energy_J(one)));
        if (with_failures)
            for (double Quantiles::*const quantile : {&Quantiles::median, &Quantiles::p05, &Quantiles::p95})
                cells.push_back(field(elapsed_energy_J(one, quantile)));
        text += line(cells);
    }
    return text;
}

std::vector<Column> table_columns(const AnswerTable& table) {
    std::vector<Column> columns{{"ranks"},
                                {"platform", "", Shown::if_varied, Align::left},
                                {"plan", "", Shown::always, Align::left},
                                {"iteration", "iteration_time_s"},
                                {"estimated", "estimated_time_s", Shown::if_chosen},
                                {"tokens/s/GPU", "tokens_per_s_per_device", Shown::if_any},
                                {"TFLOP/s/GPU", "tflops_per_device", Shown::if_any},
                                {"MFU", "model_flops_utilisation", Shown::if_any},
                                {"memory", "memory_total_bytes"},
                                {"days", "run_time_s", Shown::if_any},
                                {"by runs", "run_time_least_s", Shown::if_any},
                                {"cost", "run_cost", Shown::if_any},
                                {"with failures: median days", "run_elapsed_median_s", Shown::if_any},
                                {"median cost", "run_elapsed_cost_median", Shown::if_any},
                                {"median energy", "run_elapsed_energy_median_J", Shown::if_any},
                                {"mean failures", "run_failures", Shown::if_any},
                                {"goodput", "run_goodput", Shown::if_any},
                                {"limited by", "limited_by", Shown::if_any, Align::left},
                                {"energy", "run_energy_J", Shown::if_any}};
    for (const Answer& one : table.answers)
        add_row(columns,
                {fmt::format("{}", one.ranks), one.platform, one.words,
                 (one.simulated ? "" : "~") + seconds(one.iteration_s), seconds(one.found.estimated_s),
                 rounded(one.utilisation.tokens_per_s_per_device, "{:.0f}"),
                 rounded(one.utilisation.tflops_per_device, "{:.0f}"), percent(one.utilisation.model_flops),
                 gibibytes(one.found.memory), rounded(days(one), "{:.3g}"), days_by_runs(one), money(run_cost(one)),
                 days_with_failures(one), money(elapsed_cost(one, &Quantiles::median)),
                 energy(elapsed_energy_J(one, &Quantiles::median)), rounded(failures(one), "{:.3g}"),
                 percent(goodput(one)), one.limited_by.empty() ? "-" : one.limited_by, energy(run_energy_J(one))});
    return columns;
}

std::string to_table(const AnswerTable& table, const TableLayout& layout) {
    if (table.answers.empty()) return table.model + ": no plan\n";
    const Answer& first = table.answers.front();
    std::string text = fmt::format("{}: {} samples per iteration", table.model, first.batch);
    if (table.tokens_per_sample) {
        const double tokens = *table.tokens_per_sample * static_cast<double>(first.batch);
        text += fmt::format(
            " of {:g} tokens, {}", *table.tokens_per_sample,
            tokens < 1e6 ? fmt::format("{:.3g} k tokens", tokens / 1e3) : fmt::format("{:.3g} M tokens", tokens / 1e6));
    }
    const Table cells(table_columns(table), layout);
    text += (cells.alike().empty() ? "" : ", " + cells.alike()) + "\n\n" + cells.text();
    const bool estimated = std::ranges::any_of(table.answers, [](const Answer& one) { return !one.simulated; });
    text += estimated ? "\n~ estimated, not simulated\n" : "\n";
    for (const Answer& one : table.answers) {
        if (one.rank != 1) continue;
        text += fmt::format(
            "{}, {}: `parallelism: {}`{}\n", one.platform, ranks_of(one.ranks), one.found.text,
            one.found.recomputation.empty() ? "" : fmt::format(", `recomputation: {}`", one.found.recomputation));
        if (!one.found.layers.empty())
            text += fmt::format("  these layers of the virtual stages are estimated {:.1f} % faster than the default\n",
                                100 * (one.found.undivided_s / one.found.estimated_s - 1));
        if (!one.effects.empty()) text += fmt::format("  {}\n", text_of(one.effects));
        constexpr std::size_t most = 3;
        for (std::size_t i = 0; i < std::min(most, one.beside.size()); ++i) {
            const Beside& its = one.beside[i];
            text += fmt::format("  published {} ({}, {} {}): {}\n", its.words, its.run.name, its.run.ranks,
                                its.run.device, words_of(its, one.shares));
        }
        if (one.beside.size() > most)
            text +=
                fmt::format("  published: {} other plans, which are slower or do not fit\n", one.beside.size() - most);
        if (one.published.any())
            text += fmt::format("  {}{}\n", words_of(one.published),
                                one.run ? fmt::format(": {} days", days_by_runs(one)) : "");
    }
    return text + (table.notes.empty() ? "" : notes(table.notes));
}

}  // namespace syncline::planning
