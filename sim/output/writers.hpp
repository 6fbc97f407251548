#pragma once

#include <string>

#include "sim/analysis/dry_run.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/workload/layer_table.hpp"

/// Results as text: one function per format and kind of result. All end with a newline; the same result gives the same
/// bytes.
///
/// JSON and CSV carry a quantity's unit in its name (`iteration_time_s`); what does not exist is null or empty. The
/// table is for people: scaled units, four digits.
namespace syncline {

std::string to_json(const Report& report);
std::string to_csv(const Report& report);
std::string to_table(const Report& report);

std::string to_json(const CollectiveResult& result);
std::string to_csv(const CollectiveResult& result);
std::string to_table(const CollectiveResult& result);

/// One curve.
std::string to_json(const SweepResult& result);
std::string to_csv(const SweepResult& result);
std::string to_table(const SweepResult& result);

std::string to_json(const SweepReport& report);
std::string to_csv(const SweepReport& report);
std::string to_table(const SweepReport& report);

std::string to_json(const DryRunReport& report);
std::string to_csv(const DryRunReport& report);
std::string to_table(const DryRunReport& report);

std::string to_json(const LayerTable& table);
std::string to_csv(const LayerTable& table);
std::string to_table(const LayerTable& table);

}  // namespace syncline
