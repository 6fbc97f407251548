#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/output/cells.hpp"

/// Notes on results: what a reader must know to trust the numbers.
namespace syncline::text {

/// Returns the notes of one result, one line each: "note: …".
std::string notes(const std::vector<std::string>& of_one);

/// Returns the notes of several results. A note that all of them have is listed once without names, other notes with
/// the names of their results: "note (ring, tree): …".
std::string notes(const std::vector<std::pair<std::string, std::vector<std::string>>>& by_name);

/// Returns the notes of a report's results by variant.
template <class AnyReport>
std::string report_notes(const AnyReport& report) {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_name;
    for (const auto& result : report.results) by_name.emplace_back(result.variant, result.notes);
    return notes(by_name);
}

}  // namespace syncline::text
