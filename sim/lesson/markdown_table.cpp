#include "sim/lesson/markdown_table.hpp"

#include <algorithm>
#include <sstream>

#include "sim/base/trimmed.hpp"

namespace syncline::lesson {

namespace {

std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    for (std::size_t begin = 1; begin < line.size();) {
        const std::size_t end = std::min(line.find('|', begin), line.size());
        cells.emplace_back(trimmed(line.substr(begin, end - begin), blanks));
        begin = end + 1;
    }
    return cells;
}

}  // namespace

std::vector<Table> tables(const std::string& text, std::string_view heading) {
    std::vector<Table> tables;
    std::istringstream stream(text);
    bool inside = false, in_table = false;
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        if (line.starts_with("## ")) inside = trimmed(std::string_view(line).substr(3), blanks) == heading;
        const bool row = inside && line.starts_with('|');
        if (row && !in_table) tables.emplace_back();
        if (row && line.find_first_not_of("|-: \r") != line.npos)
            tables.back().push_back({cells_of(trimmed(line, blanks)), number, line});
        in_table = row;
    }
    std::erase_if(tables, [](const Table& table) { return table.empty(); });
    return tables;
}

std::size_t column_of(const Row& header, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(header.cells, name) - header.cells.begin());
}

}  // namespace syncline::lesson
