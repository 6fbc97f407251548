#include "sim/query/show.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sim/base/version.hpp"
#include "sim/output/text.hpp"
#include "sim/query/table.hpp"
#include "sim/store/json_value.hpp"

namespace syncline::batch {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the unit at the end of a column's name, before the suffix for a group's mean, minimum, maximum or deviation.
std::string_view unit_of(std::string_view column) {
    for (const std::string_view part : {"_mean", "_least", "_most", "_deviation"})
        if (column.ends_with(part)) column.remove_suffix(part.size());
    if (column.ends_with("_per_s")) return "";
    return column.ends_with("_s") ? "s" : column.ends_with("_Bps") ? "Bps" : "";
}

std::string cell_of(const Value& value, std::string_view unit) {
    if (value.index() == 0) return "-";
    if (const auto* text = std::get_if<std::string>(&value)) return text->substr(0, text->find('\n'));
    if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr && unit.empty())
        return text::field(*whole);
    const double number = *number_of(value);
    if (unit == "s") return text::seconds(number);
    return unit == "Bps" ? text::bandwidth(number) : fmt::format("{:.6g}", number);
}

Json object_of(const Rows& rows, const std::vector<Value>& row) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[rows.columns[i]] = json_of(row[i]);
    return object;
}

}  // namespace

std::string field_of(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return text::field(*whole);
    if (const auto* number = std::get_if<double>(&value)) return text::field(*number);
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? text::quoted(*text) : "";
}

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

std::string to_json(const Rows& rows) {
    Json points = Json::array();
    for (const std::vector<Value>& row : rows.rows) points.push_back(object_of(rows, row));
    return Json{{"schema_version", result_schema_version}, {"points", std::move(points)}}.dump(
               2, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

std::string to_json_lines(const Rows& rows) {
    std::string text;
    for (const std::vector<Value>& row : rows.rows)
        text += object_of(rows, row).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    return text;
}

std::string to_table(const Rows& rows) {
    std::vector<text::Row> cells{rows.columns};
    for (const std::vector<Value>& row : rows.rows) {
        text::Row& line = cells.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) line.push_back(cell_of(row[i], unit_of(rows.columns[i])));
    }
    return text::aligned(cells, rows.columns.back() == "message" ? 1 : 0);
}

}  // namespace syncline::batch
