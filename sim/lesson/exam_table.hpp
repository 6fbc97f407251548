#pragma once

#include <string>
#include <string_view>

#include "sim/lesson/markdown_table.hpp"

/// The table of an exam's answer: which fields of a result its columns ask for.
namespace syncline::lesson {

struct AnswerColumn {
    enum class Kind { seconds, bytes, percent, plain };

    std::string_view heading, field;
    Kind kind;
};

/// Returns the column of answers with this heading; null if it is none, as the one of formulas.
const AnswerColumn* answer_column(std::string_view heading);

/// Returns a value as such a column shows it.
std::string shown(double value, AnswerColumn::Kind kind);

/// Returns whether a column has formulas, which a student's sheet leaves out.
bool is_formula(std::string_view heading);

/// Returns the first table of a text, which is a section of an exam without its heading; empty if there is none. The
/// text's first line is line 2.
Table table_of(const std::string& section);

}  // namespace syncline::lesson
