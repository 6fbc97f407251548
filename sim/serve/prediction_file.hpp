#pragma once

#include <string>

#include "sim/lesson/lesson.hpp"
#include "sim/lesson/prediction.hpp"

/// Predictions as CSV, which a student may hand in: lesson, row, predicted and right time, and
/// (predicted - answer)/answer.
namespace syncline::serve {

inline constexpr const char* prediction_header = "lesson,row,predicted_s,answer_s,error\n";

/// Returns the lines of a prediction, without those that were skipped.
std::string prediction_lines(const lesson::Lesson& lesson, const lesson::Questionnaire& questionnaire,
                             const lesson::Prediction& prediction);

/// Returns what is in a file of predictions so far, or the header of a new one. Throws ConfigError if it is another
/// file.
std::string kept_predictions(const std::string& path);

}  // namespace syncline::serve
