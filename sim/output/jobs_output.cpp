#include "sim/output/jobs_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sim/base/counted.hpp"
#include "sim/base/percent.hpp"
#include "sim/base/version.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/field_cells.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/result_fields.hpp"

namespace syncline {

using namespace text;

namespace {

Json or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json object_of(const Neighbour& one) {
    return {{"job", one.job},     {"link", one.link},       {"shared_s", one.shared_s},
            {"bytes", one.bytes}, {"taken_s", one.taken_s}, {"utilisation", one.utilisation}};
}

/// Returns a time of a job that has run, else "-".
std::string ran(const JobResult& job, double value_s) {
    return job.end_s ? seconds(value_s) : "-";
}

std::string three_digits(double value) {
    return fmt::format("{:.4g}", value);
}

/// Returns the job's name, with its variant if there are several.
std::string name_of(const Result& result, const JobResult& job, bool variants) {
    return variants ? result.variant + ": " + job.name : job.name;
}

struct JobColumn {
    Column column;
    std::function<std::string(const JobResult&)> cell;
};

const std::vector<JobColumn>& columns() {
    static const std::vector<JobColumn> all{
        {{"ranks", "ranks"}, [](const JobResult& j) { return fmt::format("{}", j.ranks); }},
        {{"racks", "racks"}, [](const JobResult& j) { return j.start_s ? fmt::format("{}", j.racks) : "-"; }},
        {{"iterations", "iterations"}, [](const JobResult& j) { return fmt::format("{}", j.iterations); }},
        {{"arrival", "arrival_s", Shown::if_any}, [](const JobResult& j) { return seconds(j.arrival_s); }},
        {{"wait", "wait_s", Shown::if_any}, [](const JobResult& j) { return ran(j, j.wait_s()); }},
        {{"end", "end_s"}, [](const JobResult& j) { return ran(j, j.end_s.value_or(0)); }},
        {{"iteration", "iteration_s"}, [](const JobResult& j) { return ran(j, j.iteration_s); }},
        {{"alone", "alone_s"}, [](const JobResult& j) { return ran(j, j.alone_s); }},
        {{"slowdown", "slowdown"}, [](const JobResult& j) { return j.end_s ? three_digits(j.slowdown()) : "-"; }},
        {{"compute", "compute_s", Shown::if_chosen}, [](const JobResult& j) { return ran(j, j.compute_s); }},
        {{"sent", "bytes_sent", Shown::if_chosen}, [](const JobResult& j) { return text::bytes(j.bytes_sent); }},
        {{"messages", "messages", Shown::if_chosen}, [](const JobResult& j) { return fmt::format("{}", j.messages); }},
        {{"energy", "energy_J", Shown::if_any},
         [](const JobResult& j) { return j.energy_J ? cell_of(*j.energy_J, Unit::joules) : "-"; }},
        {{"taken", "taken_s", Shown::if_any},
         [](const JobResult& j) { return j.neighbours.empty() ? "-" : seconds(j.neighbours.front().taken_s); }},
        {{"by", "neighbour", Shown::if_any, Align::left},
         [](const JobResult& j) { return j.neighbours.empty() ? "-" : j.neighbours.front().job; }},
        {{"on link", "link", Shown::if_any, Align::left},
         [](const JobResult& j) { return j.neighbours.empty() ? "-" : j.neighbours.front().link; }},
    };
    return all;
}

std::string results_notes(const std::vector<Result>& results) {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_name;
    for (const Result& result : results) by_name.emplace_back(result.variant, result.notes);
    return notes(by_name);
}

/// Returns "1.5 s (1.2 s to 2 s)": a median with the 5 % and 95 % quantiles.
std::string spread(const Spread& one, std::string (*shown)(double)) {
    return fmt::format("{} ({} to {})", shown(one.median), shown(one.p05), shown(one.p95));
}

std::string summary(const std::vector<Result>& results, const TableLayout& layout) {
    Row head{"variant",      "jobs",          "makespan",       "cluster use",
             "devices held", "mean slowdown", "worst slowdown", "mean wait"};
    const bool metered = std::ranges::any_of(results, [](const Result& r) { return r.energy.has_value(); });
    const bool repeated = std::ranges::any_of(results, [](const Result& r) { return r.repeated.has_value(); });
    if (metered) head.insert(head.end(), {"energy", "of free devices", "mean power"});
    std::vector<Row> rows{head};
    std::vector<Row> seeds{
        {"variant", "seeds", "median makespan (5 to 95 %)", "median of mean slowdown", "median of mean iteration"}};
    for (const Result& result : results) {
        const JobsResult& jobs = *result.jobs;
        rows.push_back({result.variant, fmt::format("{} of {}", jobs.started(), jobs.jobs.size()),
                        seconds(jobs.makespan_s), percent(jobs.cluster_use), percent(jobs.allocated),
                        three_digits(jobs.mean_slowdown()), three_digits(jobs.worst_slowdown()),
                        seconds(jobs.mean_wait_s())});
        if (result.energy)
            rows.back().insert(rows.back().end(),
                               {cell_of(result.energy->total_J(), Unit::joules),
                                jobs.unheld_J ? cell_of(*jobs.unheld_J, Unit::joules) : "-",
                                result.energy->mean_W() ? cell_of(*result.energy->mean_W(), Unit::watts) : "-"});
        if (result.repeated && jobs.makespans_s && jobs.slowdowns)
            seeds.push_back({result.variant, fmt::format("{}", result.repeated->count),
                             spread(*jobs.makespans_s, seconds), spread(*jobs.slowdowns, three_digits),
                             spread(*result.repeated, seconds)});
    }
    std::string text = aligned(rows, 0, layout);
    if (repeated) text += "\n" + aligned(seeds, 0, layout);
    return text;
}

}  // namespace

Json object_of(const JobResult& job) {
    Json neighbours = Json::array();
    for (const Neighbour& one : job.neighbours) neighbours.push_back(object_of(one));
    const auto if_run = [&](double value) { return job.end_s ? Json(value) : Json(nullptr); };
    Json json{{"name", job.name},
              {"ranks", job.ranks},
              {"nodes", job.nodes},
              {"racks", job.racks},
              {"in_racks", job.in_racks},
              {"iterations", job.iterations},
              {"arrival_s", job.arrival_s},
              {"start_s", or_null(job.start_s)},
              {"wait_s", if_run(job.wait_s())},
              {"end_s", or_null(job.end_s)},
              {"iteration_s", if_run(job.iteration_s)},
              {"alone_s", if_run(job.alone_s)},
              {"slowdown", if_run(job.slowdown())},
              {"compute_s", if_run(job.compute_s)},
              {"bytes_sent", job.bytes_sent},
              {"messages", job.messages},
              {"neighbours", std::move(neighbours)}};
    if (job.energy_J) json["energy_J"] = *job.energy_J;
    return json;
}

std::vector<Column> job_columns(const std::vector<Result>& results) {
    std::vector<Column> all{{"job", "name"}};
    for (const JobColumn& one : columns()) all.push_back(one.column);
    for (const Result& result : results)
        for (const JobResult& job : result.jobs->jobs) {
            std::vector<std::string> cells{name_of(result, job, results.size() > 1)};
            for (const JobColumn& one : columns()) cells.push_back(one.cell(job));
            add_row(all, cells);
        }
    return all;
}

std::string jobs_table(const std::string& name, const std::vector<Result>& results, const TableLayout& layout) {
    std::string text = name + ": jobs that share a platform\n\n" + Table(job_columns(results), layout).text();
    if (layout.columns.empty()) text += "\n" + summary(results, layout);
    if (const std::string lines = results_notes(results); !lines.empty()) text += "\n" + lines;
    return text;
}

std::string jobs_csv(const std::vector<Result>& results) {
    std::string text =
        "variant,job,ranks,racks,iterations,arrival_s,start_s,wait_s,end_s,iteration_s,alone_s,slowdown,compute_s,"
        "bytes_sent,messages,energy_J,neighbour,link,taken_s\n";
    for (const Result& result : results)
        for (const JobResult& job : result.jobs->jobs) {
            const auto if_run = [&](double value) { return field(job.end_s ? std::optional(value) : std::nullopt); };
            const Neighbour* const most = job.neighbours.empty() ? nullptr : &job.neighbours.front();
            text +=
                line({quoted(result.variant), quoted(job.name), field(job.ranks), field(job.racks),
                      field(job.iterations), field(job.arrival_s), field(job.start_s), if_run(job.wait_s()),
                      field(job.end_s), if_run(job.iteration_s), if_run(job.alone_s), if_run(job.slowdown()),
                      if_run(job.compute_s), field(job.bytes_sent), field(job.messages), field(job.energy_J),
                      most ? quoted(most->job) : "", most ? quoted(most->link) : "", most ? field(most->taken_s) : ""});
        }
    return text;
}

std::string to_json(const JobsExplainReport& report) {
    Json explanations = Json::array();
    for (const Result& result : report.results) {
        Json jobs = Json::array();
        for (const JobResult& job : result.jobs->jobs) jobs.push_back(object_of(job));
        explanations.push_back({{"variant", result.variant}, {"jobs", std::move(jobs)}, {"notes", result.notes}});
    }
    return dumped(Json{
        {"schema_version", result_schema_version}, {"name", report.name}, {"explanations", std::move(explanations)}});
}

std::string to_csv(const JobsExplainReport& report) {
    std::string text = "variant,job,neighbour,link,shared_s,bytes,taken_s,utilisation\n";
    for (const Result& result : report.results)
        for (const JobResult& job : result.jobs->jobs)
            for (const Neighbour& one : job.neighbours)
                text += line({quoted(result.variant), quoted(job.name), quoted(one.job), quoted(one.link),
                              field(one.shared_s), field(one.bytes), field(one.taken_s), field(one.utilisation)});
    return text;
}

std::string to_table(const JobsExplainReport& report, const TableLayout& layout) {
    std::string text = report.name + ": neighbours of jobs, per iteration\n";
    for (const Result& result : report.results)
        for (const JobResult& job : result.jobs->jobs) {
            text += "\n" + name_of(result, job, report.results.size() > 1) + ": ";
            if (!job.end_s) {
                text += job.why_not + "\n";
                continue;
            }
            text += fmt::format("{} an iteration, {} alone, slowdown {}\n", seconds(job.iteration_s),
                                seconds(job.alone_s), three_digits(job.slowdown()));
            if (job.neighbours.empty()) {
                text += result.jobs->neighbours_known ? "no other job is on its links while it uses them\n" : "";
                continue;
            }
            std::vector<Row> rows{{"neighbour", "takes", "moves", "shared time", "utilisation", "link"}};
            for (const Neighbour& one : job.neighbours)
                rows.push_back({one.job, seconds(one.taken_s), bytes(static_cast<std::uint64_t>(one.bytes)),
                                seconds(one.shared_s), percent(one.utilisation), one.link});
            text += aligned(rows, 1, layout);
        }
    text += "\n" + summary(report.results, layout);
    if (const std::string lines = results_notes(report.results); !lines.empty()) text += "\n" + lines;
    return text;
}

}  // namespace syncline
