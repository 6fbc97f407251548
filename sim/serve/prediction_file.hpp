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

/// Throws ConfigError if there is a file that is not one of predictions.
void require_prediction_file(const std::string& path);

/// Adds lines to a file of predictions, which may be a new one. Several programs may do so at the same time. Throws
/// ConfigError as require_prediction_file(), and OutputError.
void append_predictions(const std::string& path, const std::string& lines);

}  // namespace syncline::serve
