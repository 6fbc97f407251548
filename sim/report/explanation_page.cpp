#include <fmt/format.h>

#include <algorithm>

#include "sim/output/explanation_output.hpp"
#include "sim/report/parts.hpp"

namespace syncline {

namespace {

/// Joins consecutive segments of the same kind, task and place.
std::vector<PathPiece> joined(const std::vector<PathPiece>& pieces) {
    std::vector<PathPiece> path;
    for (const PathPiece& piece : pieces) {
        PathPiece* const last = path.empty() ? nullptr : &path.back();
        if (last != nullptr && last->kind == piece.kind && last->what == piece.what && last->where == piece.where)
            last->end_s = piece.end_s;
        else
            path.push_back(piece);
    }
    return path;
}

/// Keeps the `most` longest segments, in order of time.
void keep_longest(std::vector<PathPiece>& path, std::size_t most) {
    std::stable_sort(path.begin(), path.end(),
                     [](const PathPiece& a, const PathPiece& b) { return a.end_s - a.start_s > b.end_s - b.start_s; });
    path.resize(most);
    std::stable_sort(path.begin(), path.end(),
                     [](const PathPiece& a, const PathPiece& b) { return a.start_s < b.start_s; });
}

}  // namespace

Json page_explanation(const Explanation& explanation, const PageLimits& limits) {
    if (explanation.window_s <= 0) return nullptr;
    Explanation shown = explanation;
    shown.path = joined(explanation.path);
    std::string note;
    if (shown.path.size() > limits.path_pieces) {
        note = fmt::format("Only the {} longest of {} segments are listed.", limits.path_pieces, shown.path.size());
        keep_longest(shown.path, limits.path_pieces);
    }
    Json json = object(shown);
    json["path_note"] = note;
    return json;
}

}  // namespace syncline
