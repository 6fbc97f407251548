#pragma once

#include <string>
#include <vector>

#include "sim/explain/exchange_explanation.hpp"
#include "sim/explain/explanation.hpp"
#include "sim/output/columns.hpp"
#include "sim/output/json_text.hpp"

/// Writers of explanations; see writers.hpp.
namespace syncline {

/// Returns "compute", "transfer", ….
const char* name_of(PathKind kind);

struct ExplainReport {
    std::string name;
    std::vector<Explanation> explanations;
};

/// Returns one explanation as a JSON object, without the result that it explains.
Json object(const Explanation& explanation);

std::string to_json(const ExplainReport& report);
/// Writes one row per variant and rank, with its time breakdown.
std::string to_csv(const ExplainReport& report);
std::string to_table(const ExplainReport& report, const text::TableLayout& layout = {});

/// Explanations of collective operations: of each variant and size.
struct ExchangeExplainReport {
    std::string name;
    std::vector<ExchangeExplanation> explanations;
};

std::string to_json(const ExchangeExplainReport& report);
/// Writes one row per explanation and part of the time.
std::string to_csv(const ExchangeExplainReport& report);
std::string to_table(const ExchangeExplainReport& report, const text::TableLayout& layout = {});

}  // namespace syncline
