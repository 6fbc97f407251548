#include "sim/report/report.hpp"

#include <algorithm>

#include "sim/base/version.hpp"
#include "sim/output/fidelity_text.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/report/html.hpp"
#include "sim/report/parts.hpp"

namespace syncline {

namespace {

Json object(const ScalingCurve& curve) {
    Json points = Json::array();
    for (const ScalingPoint& point : curve.points)
        points.push_back({{"ranks", point.ranks},
                          {"iteration_time_s", point.iteration_time_s},
                          {"throughput_samples_per_s", number_or_null(point.throughput_samples_per_s)},
                          {"scaling_efficiency", number_or_null(point.scaling_efficiency)}});
    return {{"variant", curve.variant}, {"points", std::move(points)}};
}

/// Adds the variants to `data`, with each picture stored once: variants often share a fabric.
void put_variants(Json& data, const std::vector<PageVariant>& variants) {
    std::vector<std::string> pictures;
    Json list = Json::array();
    for (const PageVariant& variant : variants) {
        Json picture = nullptr;
        if (!variant.picture.empty()) {
            const auto found = std::find(pictures.begin(), pictures.end(), variant.picture);
            picture = found - pictures.begin();
            if (found == pictures.end()) pictures.push_back(variant.picture);
        }
        list.push_back({{"name", variant.name},
                        {"explanation", variant.explanation},
                        {"timeline", variant.timeline},
                        {"links", variant.links},
                        {"picture", picture},
                        {"scenario", variant.scenario},
                        {"stages", variant.stages},
                        {"memory", variant.memory},
                        {"path", variant.path},
                        {"facts", variant.facts}});
    }
    data["variants"] = std::move(list);
    data["pictures"] = std::move(pictures);
}

Json head(const char* kind) {
    return {{"kind", kind}, {"program", std::string("Syncline ") + version}};
}

}  // namespace

PageLimits page_limits(std::size_t variants) {
    PageLimits limits;
    const std::size_t sharing = std::max<std::size_t>(variants, 1);
    limits.bars = std::max<std::size_t>(limits.bars * 4 / std::max<std::size_t>(sharing, 4), 200);
    limits.path_pieces = std::max<std::size_t>(limits.path_pieces * 4 / std::max<std::size_t>(sharing, 4), 20);
    return limits;
}

PageVariant page_variant(const Cluster& cluster, const Lowered* training, const Explanation& explanation,
                         const TimelineView* view, const std::string& scenario, const PageLimits& limits) {
    PageVariant variant{
        explanation.result.variant, page_explanation(explanation, limits), nullptr, nullptr, "", scenario};
    // A view that was not filled has no graph.
    const TimelineView* const recorded = view != nullptr && !view->timeline.recorded.empty() ? view : nullptr;
    if (recorded != nullptr)
        variant.timeline = page_timeline(*recorded, explanation.result.ranks, explanation.last_rank, limits);
    if (recorded != nullptr && training != nullptr) {
        variant.stages = page_stages(*recorded, *training, limits);
        variant.memory = page_memory(*recorded, *training, limits);
    }
    if (training != nullptr) variant.facts = page_facts(*training, explanation.result);
    variant.path = page_path(explanation, training);
    variant.links = page_links(cluster, explanation.result, recorded, limits, variant.picture);
    return variant;
}

std::string report_page(const ReportData& data) {
    Json json = head("training");
    json["report"] = object_of(data.report);
    json["folded"] = text::folded(data.report);
    json["notes"] = text::report_notes(data.report);
    put_variants(json, data.variants);
    Json curves = Json::array();
    for (const ScalingCurve& curve : data.scaling) curves.push_back(object(curve));
    json["scaling"] = std::move(curves);
    json["scaling_note"] = data.scaling_note;
    return html_page(data.report.name, json);
}

std::string jobs_page(const Report& report, const std::vector<PageVariant>& variants) {
    Json json = head("jobs");
    json["report"] = object_of(report);
    json["folded"] = "";
    json["notes"] = text::report_notes(report);
    put_variants(json, variants);
    return html_page(report.name, json);
}

std::string report_page(const SweepReport& report, const std::vector<PageVariant>& variants) {
    Json json = head("exchange");
    json["report"] = object_of(report);
    json["folded"] = text::folded(report);
    json["notes"] = text::report_notes(report);
    put_variants(json, variants);
    return html_page(report.name, json);
}

}  // namespace syncline
