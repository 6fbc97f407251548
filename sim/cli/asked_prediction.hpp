#pragma once

#include <string>

#include "sim/lesson/prediction.hpp"

/// A prediction that the user types before a lesson's answer is shown.
namespace syncline::cli {

/// Asks on standard error for each row, and reads standard input: a time, or an empty line to skip the row. What is no
/// time is asked for again. Throws Interrupted if the input ends, so that no answer is shown.
lesson::Prediction asked_prediction(const lesson::Questionnaire& questionnaire);

/// Returns a table of prediction, answer, difference and the calculation of the wrong model that was recognised, and
/// the judgement; empty if nothing was predicted.
std::string compared(const lesson::Questionnaire& questionnaire, const lesson::Prediction& prediction);

}  // namespace syncline::cli
