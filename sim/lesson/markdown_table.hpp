#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Tables of Markdown, `| a | b |`.
namespace syncline::lesson {

inline constexpr std::string_view blanks = " \t\r";

struct Row {
    std::vector<std::string> cells;
    int line = 0;  ///< of the text
    std::string source;
};

using Table = std::vector<Row>;  ///< the first row is the header

/// Returns the tables of the section `## heading` of `text`, whose lines begin with "|".
std::vector<Table> tables(const std::string& text, std::string_view heading);

/// Returns the column of that name; the number of columns if there is none.
std::size_t column_of(const Row& header, std::string_view name);

}  // namespace syncline::lesson
