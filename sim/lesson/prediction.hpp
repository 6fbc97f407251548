#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/lesson/lesson.hpp"

/// A student's prediction before the answer, and what it says about how the student thinks.
///
/// The answer is the first table of the section "Answer" with a column `iteration` or `time`; its rows are named by
/// their first column, and by `size` if there is one: "ring 1600 B". The section "Typical mistakes" may have a table
/// whose rows are *wrong models* and whose columns, after the first, are rows of the answer:
///
///     | mistake            | workers-2           | workers-4           |
///     |--------------------|---------------------|---------------------|
///     | one direction only | 0.8 + 2·0.1 = 1 s   | 0.8 + 4·0.1 = 1.2 s |
///
/// Only the times after "=" count here; tests check that they are the values of the formulas.
namespace syncline::lesson {

/// A way of thinking that leads to a wrong prediction.
struct WrongModel {
    std::string name;
    std::vector<double> seconds;     ///< one for each row that is asked for
    std::vector<std::string> cells;  ///< the same as written: "0.8 + 2·0.1 = 1 s"
};

struct Questionnaire {
    std::string column;             ///< "iteration" or "time"
    std::vector<std::string> rows;  ///< those of the wrong models, or else the first five of the answer
    std::vector<double> seconds;    ///< the answer
    std::vector<WrongModel> wrong_models;
};

/// Returns what can be asked; no rows if the answer has no table with such a column. Throws ConfigError, at its line,
/// if a cell is not a time or a column of the wrong models is not a row of the answer.
Questionnaire questionnaire(const Lesson& lesson);

/// Times in seconds; nothing for rows that were skipped.
using Prediction = std::vector<std::optional<double>>;

/// Returns the mean of |ln(g/m)| over the rows that were predicted, g > 0 being the prediction and m `seconds`;
/// infinity if there are none. It is 0.1 if predictions are off by a factor of e^0.1, 10 %, either way.
double distance(const Prediction& prediction, const std::vector<double>& seconds);

/// Returns whether the distance of the answer is below 0.04.
bool is_right(const Questionnaire& questionnaire, const Prediction& prediction);

/// Returns the wrong model that is nearest to a prediction that is not right, if its distance is below 0.14 and below
/// 0.6 times that of the answer; else nullptr.
const WrongModel* recognised(const Questionnaire& questionnaire, const Prediction& prediction);

/// Returns one sentence: that the prediction is right, which wrong model it is, or by which
/// factor it is off. Empty if nothing was predicted.
std::string judgement(const Questionnaire& questionnaire, const Prediction& prediction);

}  // namespace syncline::lesson
