#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/output/json_text.hpp"

/// Explanations as text: see writers.hpp.
namespace syncline {

/// "compute", "transfer", ...
const char* name_of(PathKind kind);

struct ExplainReport {
    std::string name;
    std::vector<Explanation> explanations;
};

/// One explanation as an object, its result left out; to be shown beside it.
Json object(const Explanation& explanation);

std::string to_json(const ExplainReport& report);
/// One row per variant and rank: its parts.
std::string to_csv(const ExplainReport& report);
std::string to_table(const ExplainReport& report);

}  // namespace syncline
