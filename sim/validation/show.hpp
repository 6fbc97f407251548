#pragma once

#include <string>
#include <vector>

#include "sim/validation/validation.hpp"

/// What comes of validations and calibrations, as text. Numbers in JSON and CSV are in the field's unit, in tables in
/// that of the file.
namespace syncline::validation {

/// Several scenarios, held against what was measured.
struct Points {
    std::vector<Validation> points;
};

std::string to_table(const Points& points);
std::string to_json(const Points& points);
/// A line for each row.
std::string to_csv(const Points& points);

/// One scenario, whose parameters are what was asked for.
struct Fitted {
    Validation validation;
};

std::string to_table(const Fitted& fitted);
std::string to_json(const Fitted& fitted);
/// A line for each parameter.
std::string to_csv(const Fitted& fitted);

/// `found`, `at-least`, …: as JSON and CSV have it.
std::string word(Ending ending);
/// `--set` with the value of a parameter that has one.
std::vector<std::string> assignments(const Validation& validation, const std::vector<Solution>& parameters);

}  // namespace syncline::validation
