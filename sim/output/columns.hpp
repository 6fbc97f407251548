#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// Tables for people, which fit the width of a terminal.
namespace syncline::text {

struct TableLayout {
    std::size_t width = 80;                 ///< in characters; 0: unlimited, all columns in one table
    std::vector<std::string> columns = {};  ///< names of the columns to show; empty: those that say something
    bool bars = false;                      ///< the terminal shows bars of characters (time_bars.hpp)
};

/// When a column is shown. TableLayout::columns shows any column.
enum class Shown {
    always,
    if_any,     ///< some cell is neither missing nor zero
    if_varied,  ///< the same; a cell that all rows share is told once, in Table::alike()
    if_chosen   ///< TableLayout::columns names it
};

enum class Align { right, left };

struct Column {
    std::string heading;
    std::string field = {};  ///< its name in JSON, by which it can be chosen, too
    Shown shown = Shown::always;
    Align align = Align::right;
    bool begins = false;                  ///< first of several columns that stay together if a table has room for them
    std::vector<std::string> cells = {};  ///< one per row
};

/// Adds one cell to each of the columns.
void add_row(std::vector<Column>& columns, const std::vector<std::string>& cells);

/// Throws std::invalid_argument, with a suggestion, unless each of `names` is the heading of a column or its name in
/// JSON or CSV, with or without its unit, or an abbreviation (sim/base/abbreviations.hpp), which is then its heading.
void require_columns(const std::vector<Column>& columns, const std::vector<std::string>& names);

/// A table whose first column names the rows. It is always shown.
class Table {
public:
    /// Selects the columns to show; `layout` names known columns.
    Table(std::vector<Column> columns, const TableLayout& layout);

    /// Returns "ranks 32, model resnet-50", the cells that are told once for all rows; empty if there are none.
    const std::string& alike() const { return alike_; }

    /// Returns the table. If it is too wide, headings and left-aligned cells are broken at words, and columns that
    /// still do not fit go to further tables, each with the first column, or with the number of the row if its cells
    /// are not unique. Nothing is cut.
    std::string text() const;

    /// Returns one line for each column of the first row.
    std::string list() const;

private:
    std::vector<Column> columns_;
    std::string alike_;
    std::size_t width_;
};

/// Breaks `text` into lines of at most `width` characters: after spaces, else after punctuation, else anywhere.
std::vector<std::string> broken(const std::string& text, std::size_t width);

}  // namespace syncline::text
