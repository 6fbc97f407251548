#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "sim/base/counted.hpp"
#include "sim/base/percent.hpp"
#include "sim/base/version.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/explanation_output.hpp"
#include "sim/output/fidelity_text.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

Json object(const ExchangeExplanation& e) {
    Json parts = Json::array(), changes = Json::array();
    for (const ResourcePart& part : e.parts)
        parts.push_back(
            {{"resource", part.resource}, {"text", part.text}, {"seconds", part.seconds}, {"share", part.share}});
    for (const WhatIf& one : e.what_if)
        changes.push_back({{"change", one.change},
                           {"text", one.text},
                           {"completion_time_s", number_or_null(one.iteration_time_s)},
                           {"speed_up", one.problem.empty() ? Json(one.speed_up) : Json(nullptr)},
                           {"problem", text_or_null(one.problem)}});
    const bool any = !e.result.links.empty();
    return {{"variant", e.variant},
            {"operation", e.result.operation},
            {"algorithm", e.result.algorithm},
            {"ranks", e.result.ranks},
            {"bytes", e.result.bytes},
            {"completion_time_s", e.result.completion_time_s},
            {"bus_bandwidth_Bps", number_or_null(e.result.bus_bandwidth_Bps)},
            {"answer", e.answer},
            {"limited_by", text_or_null(e.result.limited_by)},
            {"least_time_s", e.least ? Json(e.least->seconds) : Json(nullptr)},
            {"least_time_of", text_or_null(e.least ? e.least->of : "")},
            {"most_bus_bandwidth_Bps", number_or_null(e.least ? e.least->bus_bandwidth_Bps : std::nullopt)},
            {"most_used_link", text_or_null(any ? e.result.links.front().name : "")},
            {"most_used_link_utilisation", any ? Json(e.result.links.front().utilisation) : Json(nullptr)},
            {"parts", std::move(parts)},
            {"what_if", std::move(changes)},
            {"notes", e.result.notes}};
}

std::string to_table(const ExchangeExplanation& e, const TableLayout& layout) {
    const CollectiveResult& r = e.result;
    std::string answer = e.answer + ".";
    answer.front() = static_cast<char>(std::toupper(answer.front()));
    std::string text = fmt::format("{}: {} of {} among {}, {}, takes {}\n\n{}\n", e.variant, r.operation,
                                   bytes(r.bytes), counted(r.ranks, "rank"), r.algorithm, seconds(r.completion_time_s),
                                   fmt::join(broken(answer, layout.width), "\n"));
    if (!e.parts.empty()) {
        std::vector<Row> rows{{"resource", "time", "share", "what"}};
        for (const ResourcePart& part : e.parts)
            rows.push_back({part.resource, seconds(part.seconds), percent(part.share), part.text});
        text +=
            "\nTime by resource, from what a resource better by an eighth would save\n\n" + aligned(rows, 1, layout);
    }
    if (!e.what_if.empty()) {
        std::vector<Row> rows{{"change", "time", "bus bandwidth", "gain", "description"}};
        std::string left_out;
        for (const WhatIf& one : e.what_if) {
            if (!one.problem.empty()) {
                left_out += fmt::format("not simulated: {}: {}\n", one.change, one.problem);
                continue;
            }
            const auto bus_Bps =
                r.bus_bandwidth_Bps ? std::optional(*r.bus_bandwidth_Bps * one.speed_up) : std::nullopt;
            const double gain = one.speed_up - 1;
            rows.push_back({one.change, seconds(one.iteration_time_s), bandwidth(bus_Bps),
                            (gain >= 0.001 ? "+" : "") + percent(std::abs(gain) < 1e-6 ? 0 : gain), one.text});
        }
        text += "\nWhat-if analysis\n\n" + (rows.size() > 1 ? aligned(rows, 1, layout) : "") + left_out;
    }
    std::string end = r.folded.choice.folds ? folded(r.folded) + "\n" : "";
    end += notes(r.notes);
    return text + (end.empty() ? "" : "\n" + end);
}

}  // namespace

std::string to_json(const ExchangeExplainReport& report) {
    Json explanations = Json::array();
    for (const ExchangeExplanation& one : report.explanations) explanations.push_back(object(one));
    return dumped(Json{
        {"schema_version", result_schema_version}, {"name", report.name}, {"explanations", std::move(explanations)}});
}

std::string to_csv(const ExchangeExplainReport& report) {
    std::string text = "variant,bytes,completion_time_s,least_time_s,resource,seconds,share\n";
    for (const ExchangeExplanation& e : report.explanations)
        for (const ResourcePart& part : e.parts)
            text += line({quoted(e.variant), field(e.result.bytes), field(e.result.completion_time_s),
                          field(e.least ? std::optional(e.least->seconds) : std::nullopt), part.resource,
                          field(part.seconds), field(part.share)});
    return text;
}

std::string to_table(const ExchangeExplainReport& report, const TableLayout& layout) {
    std::string text;
    for (const ExchangeExplanation& one : report.explanations)
        text += (text.empty() ? "" : "\n\n") + to_table(one, layout);
    return text;
}

}  // namespace syncline
