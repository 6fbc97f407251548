#pragma once

#include <string>

#include "sim/analysis/dry_run.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/output/columns.hpp"
#include "sim/workload/layer_table.hpp"

/// Writers of results: one function per format and kind of result. All texts end with a newline. JSON and CSV fields
/// carry the unit in their names (`iteration_time_s`); missing values are null or empty. Tables have scaled units, four
/// digits.
namespace syncline {

std::string to_json(const Report& report);
std::string to_csv(const Report& report);
std::string to_table(const Report& report, const text::TableLayout& layout = {});

std::string to_json(const CollectiveResult& result);
std::string to_csv(const CollectiveResult& result);
std::string to_table(const CollectiveResult& result, const text::TableLayout& layout = {});

/// Writers of a single sweep.
std::string to_json(const SweepResult& result);
std::string to_csv(const SweepResult& result);
std::string to_table(const SweepResult& result, const text::TableLayout& layout = {});

std::string to_json(const SweepReport& report);
std::string to_csv(const SweepReport& report);
std::string to_table(const SweepReport& report, const text::TableLayout& layout = {});

std::string to_json(const DryRunReport& report);
std::string to_csv(const DryRunReport& report);
std::string to_table(const DryRunReport& report, const text::TableLayout& layout = {});

std::string to_json(const LayerTable& table);
std::string to_csv(const LayerTable& table);
std::string to_table(const LayerTable& table, const text::TableLayout& layout = {});

/// Returns the columns of a table, from which TableLayout::columns chooses.
std::vector<text::Column> table_columns(const Report& report);
std::vector<text::Column> table_columns(const SweepResult& result);
std::vector<text::Column> table_columns(const LayerTable& table);

}  // namespace syncline
