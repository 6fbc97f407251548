#include "sim/output/cells.hpp"

#include <string_view>
#include <utility>

namespace syncline::text {

std::string aligned(const std::vector<Row>& rows, std::size_t left, const TableLayout& layout) {
    std::vector<Column> columns;
    for (std::size_t i = 0; i < rows.front().size(); ++i) {
        Column& column = columns.emplace_back(Column{rows.front()[i]});
        if (i == 0 || i + left >= rows.front().size()) column.align = Align::left;
        for (std::size_t row = 1; row < rows.size(); ++row) column.cells.push_back(rows[row][i]);
    }
    return Table(std::move(columns), TableLayout{layout.width}).text();
}

std::string seconds(double value) {
    return format_quantity(value, Dimension::seconds);
}
std::string seconds(const std::optional<double>& value) {
    return value ? seconds(*value) : "-";
}
std::string bytes(std::uint64_t value) {
    return format_quantity(static_cast<double>(value), Dimension::bytes);
}
std::string bandwidth(const std::optional<double>& value) {
    return value ? format_quantity(*value, Dimension::bandwidth) : "-";
}

std::string quoted(const std::string& text) {
    // Spreadsheets calculate cells that begin like this, and show them as text behind an apostrophe (OWASP, "CSV
    // Injection").
    if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos)
        return quoted("'" + text);
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"') result += '"';
        result += c;
    }
    return result + '"';
}

std::string field(double value) {
    return fmt::format("{}", value);
}
std::string field(const std::optional<double>& value) {
    return value ? field(*value) : "";
}

std::string line(const std::vector<std::string>& fields) {
    return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace syncline::text
