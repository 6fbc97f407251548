#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "sim/base/utf8.hpp"
#include "sim/output/columns.hpp"

namespace syncline::text {

namespace {

constexpr std::size_t gap = 2, narrowest_text = 24;

using Columns = std::vector<Column>;

/// A column of one table, and its possible widths.
struct Drawn {
    const Column* column;
    std::size_t natural;  ///< nothing is broken
    std::size_t compact;  ///< the heading is
    std::size_t least;    ///< left-aligned cells are, too
    std::size_t width = 0;
};

std::size_t longest(const std::vector<std::string>& texts) {
    std::size_t most = 0;
    for (const std::string& text : texts) most = std::max(most, count_characters(text));
    return most;
}

std::size_t longest_word(const std::string& text) {
    std::size_t most = 0;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        most = std::max(most, count_characters(std::string_view(text).substr(begin, end - begin)));
        begin = end + 1;
    }
    return most;
}

std::string padded(const std::string& text, std::size_t width, Align align) {
    const std::string spaces(width - std::min(width, count_characters(text)), ' ');
    return align == Align::left ? text + spaces : spaces + text;
}

std::size_t total(const std::vector<Drawn>& table, std::size_t Drawn::*width) {
    std::size_t sum = 0;
    for (const Drawn& column : table) sum += column.*width + gap;
    return sum - gap;
}

/// Gives `table` its widths: the natural ones, less what headings and then cells can spare, the last ones first.
void fit(std::vector<Drawn>& table, std::size_t width) {
    for (Drawn& column : table) column.width = column.natural;
    for (std::size_t Drawn::*const spare : {&Drawn::compact, &Drawn::least}) {
        for (auto column = table.rbegin(); column != table.rend(); ++column) {
            const std::size_t now = total(table, &Drawn::width);
            if (width == 0 || now <= width) return;
            column->width -= std::min(now - width, column->width - (*column).*spare);
        }
    }
}

void draw_row(std::string& text, const std::vector<Drawn>& table, const std::vector<std::vector<std::string>>& cells,
              bool at_bottom) {
    std::size_t lines = 0;
    for (const auto& cell : cells) lines = std::max(lines, cell.size());
    for (std::size_t line = 0; line < lines; ++line) {
        for (std::size_t i = 0; i < table.size(); ++i) {
            const std::size_t skipped = at_bottom ? lines - cells[i].size() : 0;
            const bool there = line >= skipped && line - skipped < cells[i].size();
            text += std::string(i == 0 ? 0 : gap, ' ') +
                    padded(there ? cells[i][line - skipped] : "", table[i].width, table[i].column->align);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
}

std::string drawn(const std::vector<Drawn>& table) {
    std::string text;
    std::vector<std::vector<std::string>> cells;
    for (const Drawn& one : table) cells.push_back(broken(one.column->heading, one.width));
    draw_row(text, table, cells, true);
    for (std::size_t row = 0; row < table.front().column->cells.size(); ++row) {
        cells.clear();
        for (const Drawn& one : table) cells.push_back(broken(one.column->cells[row], one.width));
        draw_row(text, table, cells, false);
    }
    return text;
}

/// Returns the columns with their possible widths in tables of at most `width`.
std::vector<Drawn> measured(const Columns& columns, std::size_t width) {
    std::vector<Drawn> all;
    for (const Column& column : columns) {
        const std::size_t cells = longest(column.cells);
        const std::size_t compact = std::max(cells, longest_word(column.heading));
        Drawn one{&column, std::max(cells, count_characters(column.heading)), compact, compact};
        if (all.empty())
            one.least = std::min(compact, std::max(width / 3, narrowest_text));
        else if (column.align == Align::left)
            one.least = std::min(compact, narrowest_text);
        all.push_back(one);
    }
    return all;
}

/// Divides the columns into tables of at most `width`, as far as possible without dividing groups.
std::vector<std::vector<Drawn>> stacked(const std::vector<Drawn>& columns, std::size_t width) {
    std::vector<std::vector<Drawn>> tables{{columns.front()}};
    const auto fits = [&](std::vector<Drawn> table, auto begin, auto end) {
        table.insert(table.end(), begin, end);
        return total(table, &Drawn::least) <= width;
    };
    const std::vector<Drawn> empty = tables.front();
    for (auto column = columns.begin() + 1; column != columns.end();) {
        const auto end = std::find_if(column + 1, columns.end(), [](const Drawn& one) { return one.column->begins; });
        const bool begun = tables.back().size() > 2;  // a single column shares its table with a divided group
        if (begun && fits(empty, column, end) && !fits(tables.back(), column, end)) tables.push_back(empty);
        for (; column != end; ++column) {
            if (tables.back().size() > 1 && !fits(tables.back(), column, column + 1)) tables.push_back(empty);
            tables.back().push_back(*column);
        }
    }
    return tables;
}

/// Returns whether a row can be told by its cell.
bool names_rows(const Column& column) {
    return std::set<std::string>(column.cells.begin(), column.cells.end()).size() == column.cells.size();
}

Columns with_numbers(Columns columns) {
    Column numbers{"row"};
    for (std::size_t row = 1; row <= columns.front().cells.size(); ++row)
        numbers.cells.push_back(fmt::format("{}", row));
    columns.insert(columns.begin(), std::move(numbers));
    return columns;
}

}  // namespace

std::vector<std::string> broken(const std::string& text, std::size_t width) {
    std::vector<std::string> lines;
    std::string_view rest = text;
    while (count_characters(rest) > width && width > 0) {
        std::string_view ahead = rest;
        std::size_t space = 0, sign = 0, here = 0;
        for (std::size_t count = 0; count <= width; ++count) {
            const char letter = ahead.front();
            if (letter == ' ') space = here;
            if (count == width) break;
            take_character(ahead);
            here = rest.size() - ahead.size();
            if (std::string_view("-/_,;:").find(letter) != std::string_view::npos) sign = here;
        }
        const std::size_t end = space > 0 ? space : sign > 0 ? sign : here;
        lines.emplace_back(rest.substr(0, end));
        rest.remove_prefix(end);
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    }
    if (!rest.empty() || lines.empty()) lines.emplace_back(rest);
    return lines;
}

std::string Table::text() const {
    const std::vector<Drawn> all = measured(columns_, width_);
    std::vector<std::vector<Drawn>> tables{all};
    if (width_ > 0 && total(all, &Drawn::natural) > width_) tables = stacked(all, width_);
    const Columns numbered = with_numbers(columns_);
    if (tables.size() > 1 && !names_rows(columns_.front())) tables = stacked(measured(numbered, width_), width_);
    std::string text;
    for (std::vector<Drawn>& table : tables) {
        fit(table, width_);
        text += (text.empty() ? "" : "\n") + drawn(table);
    }
    return text;
}

std::string Table::list() const {
    Columns both(2, Column{"", "", Shown::always, Align::left});
    for (const Column& column : columns_) add_row(both, {column.heading, column.cells.front()});
    std::vector<Drawn> table = measured(both, width_);
    fit(table, width_);
    const std::string text = drawn(table);
    return text.substr(text.find('\n') + 1);
}

}  // namespace syncline::text
