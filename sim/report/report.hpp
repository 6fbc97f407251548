#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/explain/explanation.hpp"
#include "sim/output/json_text.hpp"

namespace syncline::batch {
class Table;
struct Rows;
}  // namespace syncline::batch

namespace syncline::validation {
struct Points;
}

/// Reports: a result as a self-contained HTML page with charts, each with a table of its numbers. The page has its data
/// as one block of JSON, in which `report` is the output of to_json(Report), and Chart.js (MIT licence). Its content
/// security policy forbids every request. Data that is too large is left out, and the page says so: timelines have at
/// most 16 processes, bars that are too close are joined, and a large fabric has only a table of its busiest links.
namespace syncline {

struct PageLimits {
    std::size_t processes = 16;           ///< of a timeline
    std::size_t bars = 8000;              ///< of a timeline
    std::size_t path_pieces = 400;        ///< of the critical path
    std::size_t links = 200;              ///< in the table below the picture
    std::size_t link_groups = 12;         ///< of equal links
    std::size_t picture_bytes = 600'000;  ///< of a fabric
    std::size_t messages = 20'000;        ///< in moving pictures
};

/// Returns the limits for a page with that many variants: with 64 ranks the page stays below 3 MB.
PageLimits page_limits(std::size_t variants);

/// The data of a variant that a page shows; the recording itself is not kept.
struct PageVariant {
    std::string name;
    Json explanation;  ///< null: not requested
    Json timeline;     ///< null: not recorded
    Json links;        ///< links of the fabric
    std::string picture;
    std::string scenario;  ///< resolved scenario, as YAML
    // Null where it is unknown:
    Json stages = nullptr;  ///< passes of the pipeline
    Json memory = nullptr;  ///< memory over time
    Json path = nullptr;    ///< critical path over time
    Json facts = nullptr;   ///< plan and cluster in words
};

/// Returns the data of a variant. `training`: what `explanation` explains, or null. `view`: the recording of explain(),
/// or null.
PageVariant page_variant(const Cluster& cluster, const Lowered* training, const Explanation& explanation,
                         const TimelineView* view, const std::string& scenario, const PageLimits& limits);

/// A variant on a given number of ranks.
struct ScalingPoint {
    std::int64_t ranks = 0;
    double iteration_time_s = 0;
    std::optional<double> throughput_samples_per_s, scaling_efficiency;
};

struct ScalingCurve {
    std::string variant;
    std::vector<ScalingPoint> points;  ///< in order of ranks
};

struct ReportData {
    Report report;
    std::vector<PageVariant> variants;  ///< in the order of report.results
    std::vector<ScalingCurve> scaling;  ///< empty: not requested
    std::string scaling_note;           ///< numbers of ranks that were skipped, and why
};

std::string report_page(const ReportData& data);

/// Returns the page of collective operations: time and bandwidth by size, with the closed form. `variants` provide the
/// scenarios.
std::string report_page(const SweepReport& report, const std::vector<PageVariant>& variants);

/// Returns the page of jobs that share a platform: jobs and racks over time, and who slows whom. `variants` provide the
/// scenarios.
std::string jobs_page(const Report& report, const std::vector<PageVariant>& variants);

/// Returns the output of `syncline results` as an HTML page: the best points, a chart of any result over any setting,
/// and a sortable table of the rows, with the first `listed` columns; the others are results for charts. Rows beyond
/// `most_rows` are left out, and the page says so.
std::string report_page(const std::string& title, const batch::Table& table, const batch::Rows& rows,
                        std::size_t listed, std::size_t most_rows = 10'000);

/// A scenario beside a page.
struct PlanFile {
    std::string name, text;
};

/// Returns the answer of `syncline plan`, which is `plan.json`, as an HTML page: days against cost, and for each plan
/// its scenario. `files` are by answer, in the page's directory.
std::string plan_page(const std::string& title, Json answer, const std::vector<PlanFile>& files);

/// Returns the output of `syncline validate` as an HTML page: the accuracy of predictions, predicted / measured for
/// every scenario, and for each scenario its source, parameters, rows and leave-one-out sensitivity. The page's numbers
/// are those of to_json(Points).
std::string report_page(const validation::Points& points);

}  // namespace syncline
