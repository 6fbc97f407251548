#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/output/field_units.hpp"
#include "sim/output/json_text.hpp"

/// The fields of results, in one table for each kind of result: names, units, descriptions and values, for JSON, CSV,
/// expectations, measurements, tables, plots, pages, and the reference in scenarios/results.md.
namespace syncline {

template <class T>
struct ResultField {
    std::string name;  ///< path in JSON: `closed_form.formula`; in CSV with `_` in place of `.`
    Unit unit = Unit::number;
    const char* doc = "";  ///< one cell of a Markdown table
    int column = 0;        ///< CSV has columns in ascending order of this number; 0: none
    std::function<Json(const T&)> value;
    bool in_json = true;
    bool if_given = false;  ///< left out where it has no value: from JSON, and from CSV if no result has one
};

/// Returns the table of a kind of result, in the order of JSON.
template <class T>
const std::vector<ResultField<T>>& fields_of();
template <>
const std::vector<ResultField<Memory>>& fields_of();
template <>
const std::vector<ResultField<Result>>& fields_of();
template <>
const std::vector<ResultField<CollectiveResult>>& fields_of();
template <>
const std::vector<ResultField<SweepResult>>& fields_of();
template <>
const std::vector<ResultField<SweepPoint>>& fields_of();

/// Returns the result as a JSON object.
Json object_of(const Memory& memory);
Json object_of(const Result& result);
Json object_of(const CollectiveResult& result);
Json object_of(const SweepResult& result);
Json object_of(const Report& report);
Json object_of(const SweepReport& report);

/// Names or values of a row of CSV, by ResultField::column.
using CsvCells = std::map<int, std::string>;
/// Returns the name of a column: `closed_form_formula`.
std::string csv_name(std::string path);
/// Returns a value as text, quoted if necessary; elements of a list are separated by "; ".
std::string csv_cell(const Json& value);

template <class T>
CsvCells csv_names() {
    CsvCells cells;
    for (const ResultField<T>& field : fields_of<T>())
        if (field.column > 0) cells[field.column] = csv_name(field.name);
    return cells;
}
template <class T>
CsvCells csv_values(const T& result) {
    CsvCells cells;
    for (const ResultField<T>& field : fields_of<T>())
        if (field.column > 0) cells[field.column] = csv_cell(field.value(result));
    return cells;
}

/// Returns the tables as Markdown.
std::string fields_reference();

}  // namespace syncline
