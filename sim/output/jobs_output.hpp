#pragma once

#include <string>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/output/columns.hpp"
#include "sim/output/json_text.hpp"

/// Writers of the results of jobs that share a cluster; see writers.hpp.
namespace syncline {

/// Returns the job as a JSON object.
Json object_of(const JobResult& job);

/// Returns the columns of a table with one row per job, from which TableLayout::columns chooses.
std::vector<text::Column> job_columns(const std::vector<Result>& results);
/// Writes that table, and one with a row for each variant.
std::string jobs_table(const std::string& name, const std::vector<Result>& results, const text::TableLayout& layout);
/// Writes one row per variant and job.
std::string jobs_csv(const std::vector<Result>& results);

/// What explains the times of jobs: their neighbours on each link.
struct JobsExplainReport {
    std::string name;
    std::vector<Result> results;
};

std::string to_json(const JobsExplainReport& report);
/// Writes one row per variant, job, neighbour and link.
std::string to_csv(const JobsExplainReport& report);
std::string to_table(const JobsExplainReport& report, const text::TableLayout& layout = {});

}  // namespace syncline
