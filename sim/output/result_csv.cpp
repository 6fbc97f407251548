#include <algorithm>

#include "sim/output/cells.hpp"
#include "sim/output/jobs_output.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

namespace {

std::string csv_line(const CsvCells& cells) {
    std::vector<std::string> fields;
    for (const auto& [column, cell] : cells) fields.push_back(cell);
    return text::line(fields);
}

/// Joins the cells of a sweep and those of one of its points; the first column is the variant.
std::string sweep_line(CsvCells cells, CsvCells of_point, bool variants) {
    cells.merge(of_point);
    if (!variants) cells.erase(cells.begin());
    return csv_line(cells);
}

std::string sweep_head(bool variants) {
    return sweep_line(csv_names<SweepResult>(), csv_names<SweepPoint>(), variants);
}
std::string sweep_lines(const SweepResult& result, bool variants) {
    std::string text;
    for (const SweepPoint& point : result.points) text += sweep_line(csv_values(result), csv_values(point), variants);
    return text;
}

/// Returns the columns that no result has a value for, of those that only some results have.
std::vector<int> columns_not_given(const Report& report) {
    std::vector<int> columns;
    for (const ResultField<Result>& field : fields_of<Result>())
        if (field.if_given && std::all_of(report.results.begin(), report.results.end(),
                                          [&](const Result& result) { return field.value(result).is_null(); }))
            columns.push_back(field.column);
    return columns;
}

}  // namespace

std::string to_csv(const Report& report) {
    if (!report.results.empty() && report.results.front().jobs) return jobs_csv(report.results);
    const std::vector<int> left_out = columns_not_given(report);
    const auto line = [&](CsvCells cells) {
        for (const int column : left_out) cells.erase(column);
        return csv_line(cells);
    };
    std::string text = line(csv_names<Result>());
    for (const Result& result : report.results) text += line(csv_values(result));
    return text;
}

std::string to_csv(const CollectiveResult& result) {
    return csv_line(csv_names<CollectiveResult>()) + csv_line(csv_values(result));
}

std::string to_csv(const SweepResult& result) {
    return sweep_head(false) + sweep_lines(result, false);
}

std::string to_csv(const SweepReport& report) {
    std::string text = sweep_head(true);
    for (const SweepResult& result : report.results) text += sweep_lines(result, true);
    return text;
}

}  // namespace syncline
