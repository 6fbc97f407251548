#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/output/columns.hpp"
#include "sim/validation/validation.hpp"

/// Parts of the text output that several files share. Each table ends with a line break.
namespace syncline::validation {

std::string percent(double part);
/// Formats a percentage with its sign, without a minus if it rounds to zero.
std::string signed_percent(double part);
std::string accuracy_text(const std::optional<double>& value);
/// Formats a value in the unit of the series.
std::string in_unit(double value, const config::MeasuredSeries& series);
/// Formats the value of a parameter.
std::string value_of(const config::MeasuredParameter& parameter, const std::optional<double>& value);
/// Returns whether rows were predicted with several seeds.
bool repeated(const Validation& one);

/// The source, with its spread.
std::string head_of(const Validation& one);
std::string rows_table(const Validation& one, const text::TableLayout& layout);
/// What limits the predicted rows, how far off they are, and what that says; empty if nothing is known of any.
std::string causes_table(const Validation& one, const text::TableLayout& layout);
std::string parameters_table(const Validation& one, const text::TableLayout& layout);
std::string left_out_table(const Validation& one, const text::TableLayout& layout);
std::string assumptions_table(const Validation& one, const text::TableLayout& layout);
/// The median error of each scenario without each mechanism. There must be a scenario.
std::string mechanisms_table(const std::vector<Validation>& points, const text::TableLayout& layout);

}  // namespace syncline::validation
