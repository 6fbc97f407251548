#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/output/columns.hpp"
#include "sim/planning/answer.hpp"

/// The answer to a planner's question in words, as JSON and as CSV.
namespace syncline::planning {

struct AnswerTable {
    std::string model;
    std::optional<double> tokens_per_sample;
    std::vector<Answer> answers;
    std::vector<std::string> notes;
};

std::string to_json(const AnswerTable& table);
std::string to_csv(const AnswerTable& table);
std::string to_table(const AnswerTable& table, const text::TableLayout& layout = {});

std::vector<text::Column> table_columns(const AnswerTable& table);

/// Returns "512 ranks" or "1 rank".
std::string ranks_of(std::int64_t number);

/// Returns an answer in one line: "dgx-h100, 512 ranks: 6.892 s, 38 days, TP2 PP4x8 CP4 DP16 mbs1 SP ZeRO-1".
std::string line_of(const Answer& answer);

}  // namespace syncline::planning
