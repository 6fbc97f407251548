#include <fmt/format.h>

#include <algorithm>

#include "sim/report/parts.hpp"

namespace syncline {

namespace {

const char* word(PathKind kind) {
    switch (kind) {
        case PathKind::compute:
            return "computation";
        case PathKind::transfer:
            return "bytes on their way";
        case PathKind::latency:
            return "latency";
        case PathKind::overhead:
            return "overhead of messages";
        case PathKind::copy:
            return "copies";
        case PathKind::reduction:
            return "sums";
        case PathKind::timer:
            return "timer";
        case PathKind::waiting:
            return "waiting";
    }
    return "";
}

Json list(const std::vector<RankParts>& ranks) {
    Json json = Json::array();
    for (const RankParts& parts : ranks)
        json.push_back({{"compute_s", parts.compute_s},
                        {"hidden_communication_s", parts.hidden_communication_s},
                        {"exposed_communication_s", parts.exposed_communication_s},
                        {"reduction_s", parts.reduction_s},
                        {"copies_s", parts.copies_s},
                        {"waiting_s", parts.waiting_s},
                        {"idle_s", parts.idle_s}});
    return json;
}

Json list(const std::vector<LayerParts>& layers) {
    Json json = Json::array();
    for (const LayerParts& parts : layers)
        json.push_back({{"layer", parts.layer}, {"forward_s", parts.forward_s}, {"backward_s", parts.backward_s}});
    return json;
}

Json list(const std::vector<BucketParts>& buckets) {
    Json json = Json::array();
    for (const BucketParts& parts : buckets)
        json.push_back({{"what", parts.what},
                        {"bytes", parts.bytes},
                        {"start_s", parts.start_s},
                        {"end_s", parts.end_s},
                        {"communication_s", parts.communication_s},
                        {"exposed_s", parts.exposed_s}});
    return json;
}

Json list(const std::vector<PathShare>& shares) {
    Json json = Json::array();
    for (const PathShare& part : shares)
        json.push_back({{"kind", word(part.kind)},
                        {"what", part.what},
                        {"where", part.where},
                        {"pieces", part.pieces},
                        {"seconds", part.seconds},
                        {"share", part.share}});
    return json;
}

/// Neighbours of the same kind, thing and place are one piece; of too many the longest stay.
Json path(const std::vector<PathPiece>& pieces, std::size_t most, std::string& note) {
    std::vector<PathPiece> joined;
    for (const PathPiece& piece : pieces) {
        PathPiece* const last = joined.empty() ? nullptr : &joined.back();
        if (last != nullptr && last->kind == piece.kind && last->what == piece.what && last->where == piece.where)
            last->end_s = piece.end_s;
        else
            joined.push_back(piece);
    }
    if (joined.size() > most) {
        note = fmt::format("The {} longest of {} pieces.", most, joined.size());
        const auto longer = [](const PathPiece& a, const PathPiece& b) {
            return a.end_s - a.start_s > b.end_s - b.start_s;
        };
        std::stable_sort(joined.begin(), joined.end(), longer);
        joined.resize(most);
        std::stable_sort(joined.begin(), joined.end(),
                         [](const PathPiece& a, const PathPiece& b) { return a.start_s < b.start_s; });
    }
    Json json = Json::array();
    for (const PathPiece& piece : joined)
        json.push_back({{"kind", word(piece.kind)},
                        {"what", piece.what},
                        {"where", piece.where},
                        {"link", piece.link},
                        {"start_s", piece.start_s},
                        {"end_s", piece.end_s}});
    return json;
}

Json list(const std::vector<LinkParts>& links) {
    Json json = Json::array();
    for (const LinkParts& parts : links) {
        Json shares = Json::array();
        for (const LinkShare& share : parts.shares) shares.push_back({{"what", share.what}, {"bytes", share.bytes}});
        json.push_back({{"link", parts.link},
                        {"bandwidth_Bps", parts.bandwidth_Bps},
                        {"bytes", parts.bytes},
                        {"busy_s", parts.busy_s},
                        {"utilisation", parts.utilisation},
                        {"lost_s", parts.lost_s},
                        {"profile", parts.profile},
                        {"shares", std::move(shares)}});
    }
    return json;
}

Json object(const Theory& theory) {
    Json terms = Json::array(), differences = Json::array();
    for (const TheoryTerm& term : theory.terms)
        terms.push_back({{"symbol", term.symbol},
                         {"meaning", term.meaning},
                         {"value", number_or_null(term.value)},
                         {"unit", term.unit}});
    for (const Difference& part : theory.differences)
        differences.push_back({{"cause", part.cause}, {"seconds", part.seconds}, {"text", part.text}});
    return {{"terms", std::move(terms)},
            {"formula", theory.formula},
            {"closed_form_s", number_or_null(theory.closed_form_s)},
            {"lower_bound_s", theory.lower_bound_s},
            {"lower_bound", theory.lower_bound},
            {"simulated_s", theory.simulated_s},
            {"differences", std::move(differences)}};
}

Json list(const std::vector<WhatIf>& answers) {
    Json json = Json::array();
    for (const WhatIf& answer : answers)
        json.push_back({{"change", answer.change},
                        {"text", answer.text},
                        {"iteration_time_s", number_or_null(answer.iteration_time_s)},
                        {"throughput_samples_per_s", number_or_null(answer.throughput_samples_per_s)},
                        {"speed_up", answer.speed_up},
                        {"problem", answer.problem}});
    return json;
}

}  // namespace

Json page_explanation(const Explanation& explanation, const PageLimits& limits) {
    if (explanation.window_s <= 0) return nullptr;
    std::string path_note;
    Json pieces = path(explanation.path, limits.path_pieces, path_note);
    return {{"level", explanation.level},
            {"level_reason", explanation.level_reason},
            {"iterations", explanation.iterations},
            {"window_s", explanation.window_s},
            {"last_rank", explanation.last_rank},
            {"ranks", list(explanation.ranks)},
            {"layers", list(explanation.layers)},
            {"buckets", list(explanation.buckets)},
            {"path", std::move(pieces)},
            {"path_note", path_note},
            {"shares", list(explanation.shares)},
            {"links", list(explanation.links)},
            {"uncontended_time_s", number_or_null(explanation.uncontended_time_s)},
            {"theory", object(explanation.theory)},
            {"what_if", list(explanation.what_if)}};
}

}  // namespace syncline
