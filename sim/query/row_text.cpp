#include "sim/query/row_text.hpp"

#include <fmt/format.h>

#include "sim/base/version.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/field_cells.hpp"
#include "sim/query/table.hpp"
#include "sim/store/json_value.hpp"

namespace syncline::batch {

namespace {

std::string cell_of(const Value& value, Unit unit) {
    if (value.index() == 0) return "-";
    if (const auto* text = std::get_if<std::string>(&value)) return text->substr(0, text->find('\n'));
    const auto* whole = std::get_if<std::int64_t>(&value);
    return whole != nullptr && unit == Unit::number ? text::field(*whole) : text::cell_of(*number_of(value), unit);
}

Json object_of(const Rows& rows, const std::vector<Value>& row) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[rows.columns[i]] = json_of(row[i]);
    return object;
}

std::string field_of(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return text::field(*whole);
    if (const auto* number = std::get_if<double>(&value)) return text::field(*number);
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? text::quoted(*text) : "";
}

}  // namespace

std::string to_csv(const Rows& rows) {
    std::vector<std::string> fields;
    for (const std::string& column : rows.columns) fields.push_back(text::quoted(column));
    std::string csv = text::line(fields);
    for (const std::vector<Value>& row : rows.rows) {
        fields.clear();
        for (const Value& value : row) fields.push_back(field_of(value));
        csv += text::line(fields);
    }
    return csv;
}

Json list_of(const Rows& rows) {
    Json list = Json::array();
    for (const std::vector<Value>& row : rows.rows) list.push_back(object_of(rows, row));
    return list;
}

std::string to_json(const Rows& rows) {
    return dumped({{"schema_version", result_schema_version}, {"points", list_of(rows)}});
}

std::string to_json_lines(const Rows& rows) {
    std::string text;
    for (const std::vector<Value>& row : rows.rows) text += one_line(object_of(rows, row)) + "\n";
    return text;
}

std::string to_table(const Rows& rows, const text::TableLayout& layout) {
    std::vector<text::Row> cells(1);
    for (std::size_t i = 0; i < rows.columns.size(); ++i)
        cells.front().push_back(text::heading_of(rows.columns[i], rows.unit(i)));
    for (const std::vector<Value>& row : rows.rows) {
        text::Row& line = cells.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) line.push_back(cell_of(row[i], rows.unit(i)));
    }
    return text::aligned(cells, rows.columns.back() == "message" ? 1 : 0, layout);
}

}  // namespace syncline::batch
