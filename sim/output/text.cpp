#include "sim/output/text.hpp"

#include <algorithm>
#include <string_view>

#include "sim/base/utf8.hpp"

namespace syncline::text {

std::string aligned(std::vector<Row> rows, std::size_t left) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (Row& row : rows)
        for (std::string& cell : row) cell = printable(cell);
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const Row& row : rows) {
        text += fmt::format("{:<{}}", row[0], widths[0]);
        for (std::size_t i = 1; i < row.size(); ++i)
            text += i + left < row.size() ? fmt::format("  {:>{}}", row[i], widths[i])
                                          : fmt::format("  {:<{}}", row[i], widths[i]);
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
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
