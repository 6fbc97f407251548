#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/output/text.hpp"

/// Notes of results, as writers show them: what a reader must know to trust the numbers.
namespace syncline::text {

/// The notes of one result, a line each: "note: …".
std::string notes(const std::vector<std::string>& of_one);

/// The notes of several results. A note that all of them have is shown once, others with the names of those that have
/// it: "note (ring, tree): …".
std::string notes(const std::vector<std::pair<std::string, std::vector<std::string>>>& by_name);

/// The same of a report's results, by variant.
template <class AnyReport>
std::string report_notes(const AnyReport& report) {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_name;
    for (const auto& result : report.results) by_name.emplace_back(result.variant, result.notes);
    return notes(by_name);
}

/// The field of CSV.
std::string notes_field(const std::vector<std::string>& of_one);

}  // namespace syncline::text
