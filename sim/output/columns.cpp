#include "sim/output/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <stdexcept>

#include "sim/base/abbreviations.hpp"
#include "sim/base/did_you_mean.hpp"
#include "sim/base/utf8.hpp"
#include "sim/output/field_units.hpp"

// The choice of the columns to show; columns_text.cpp draws them.

namespace syncline::text {

namespace {

/// Returns true for "-", "0", "0 s", "0.0 %".
bool says_nothing(const std::string& cell) {
    if (cell.empty() || cell == "-") return true;
    double value = 1;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return error == std::errc() && value == 0 && (end == cell.data() + cell.size() || *end == ' ');
}

bool any(const Column& column) {
    return !std::all_of(column.cells.begin(), column.cells.end(), says_nothing);
}

bool varied(const Column& column) {
    return std::set<std::string>(column.cells.begin(), column.cells.end()).size() != 1 || column.cells.size() == 1;
}

/// Returns a name as it is compared: "closed form iteration time" of `closed_form.iteration_time`.
std::string plain(std::string name) {
    for (char& letter : name)
        letter = letter == '_' || letter == '.' || letter == '-'
                     ? ' '
                     : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return name;
}

const Column* find(const std::vector<Column>& columns, const std::string& name) {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& column) {
        const std::string short_field = without_unit(column.field, unit_of(column.field));
        return plain(name) == plain(column.heading) ||
               (!column.field.empty() && (plain(name) == plain(column.field) || plain(name) == plain(short_field)));
    });
    if (found != columns.end()) return &*found;
    const Abbreviation* const meant = find_abbreviation(plain(name));
    if (meant == nullptr || meant->field.empty()) return nullptr;
    const auto other = std::ranges::find(columns, meant->field, &Column::field);
    return other == columns.end() ? nullptr : &*other;
}

}  // namespace

void add_row(std::vector<Column>& columns, const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells.at(i));
}

void require_columns(const std::vector<Column>& columns, const std::vector<std::string>& names) {
    std::vector<std::string> known, headings;
    for (const Column& column : columns) {
        known.push_back(column.heading);
        if (!column.field.empty()) known.push_back(column.field);
        headings.push_back(column.heading);
    }
    for (const std::string& name : names)
        if (find(columns, name) == nullptr)
            throw std::invalid_argument(
                fmt::format("there is no column '{}'\n  hint: {}", name,
                            did_you_mean(name, known, fmt::format("the columns are {}", fmt::join(headings, ", ")))));
}

Table::Table(std::vector<Column> columns, const TableLayout& layout) : width_(layout.width) {
    for (Column& column : columns) {
        column.heading = printable(column.heading);
        for (std::string& cell : column.cells) cell = printable(cell);
    }
    columns.front().align = Align::left;
    columns_.push_back(columns.front());
    for (const std::string& name : layout.columns)
        if (const Column* const column = find(columns, name); column != nullptr && column != &columns.front()) {
            columns_.push_back(*column);
            if (find_abbreviation(plain(name)) != nullptr) columns_.back().heading = name;
        }
    if (!layout.columns.empty()) return;
    for (auto column = columns.begin() + 1; column != columns.end(); ++column) {
        if (column->shown == Shown::if_chosen || (column->shown != Shown::always && !any(*column))) continue;
        if (column->shown != Shown::if_varied || varied(*column))
            columns_.push_back(std::move(*column));
        else
            alike_ += fmt::format("{}{} {}", alike_.empty() ? "" : ", ", column->heading, column->cells.front());
    }
}

}  // namespace syncline::text
