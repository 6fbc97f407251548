#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/explain/explanation.hpp"
#include "sim/output/json_text.hpp"

/// A result as one page of HTML that needs nothing but a browser: charts, and behind each a table of its numbers.
///
/// The page holds its data as one block of JSON, of which `report` is what to_json(Report) prints; charts are drawn
/// from that by Chart.js (MIT licence), which is part of the page. Its content security policy forbids every request.
/// The same data gives the same bytes.
///
/// What is too much for a page is left out, and the page says so: timelines are of 16 processes at most and bars that
/// lie too close are one, the picture of a large fabric is a table of its busiest links.
namespace syncline {

struct PageLimits {
    std::size_t processes = 16;           ///< of a timeline
    std::size_t bars = 8000;              ///< of a timeline
    std::size_t path_pieces = 400;        ///< of the chain that decided the window
    std::size_t links = 200;              ///< in the table beside the picture
    std::size_t picture_bytes = 600'000;  ///< of a fabric
};

/// For a page of so many variants: together they stay below 3 MB for 64 ranks.
PageLimits page_limits(std::size_t variants);

/// One variant, as much of it as a page shows. What holds much, the recording, is not kept.
struct PageVariant {
    std::string name;
    Json explanation;  ///< null: nobody asked why
    Json timeline;     ///< null: nothing was recorded
    Json links;        ///< of the fabric
    std::string picture;
    std::string scenario;  ///< resolved, as YAML
};

/// `view`: what explain() recorded, or null.
PageVariant page_variant(const Cluster& cluster, const Explanation& explanation, const TimelineView* view,
                         const std::string& scenario, const PageLimits& limits);

/// The same variant on other numbers of ranks.
struct ScalingPoint {
    std::int64_t ranks = 0;
    double iteration_time_s = 0;
    std::optional<double> throughput_samples_per_s, scaling_efficiency;
};

struct ScalingCurve {
    std::string variant;
    std::vector<ScalingPoint> points;  ///< by ranks
};

struct ReportData {
    Report report;
    std::vector<PageVariant> variants;  ///< as report.results
    std::vector<ScalingCurve> scaling;  ///< empty: nobody asked
    std::string scaling_note;           ///< what was left out of it, and why
};

std::string report_page(const ReportData& data);

/// Of exchanges alone: time and bandwidth by size, with the closed form. `variants` name the scenarios.
std::string report_page(const SweepReport& report, const std::vector<PageVariant>& variants);

}  // namespace syncline
