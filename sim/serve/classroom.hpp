#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "sim/lesson/lesson.hpp"
#include "sim/lesson/prediction.hpp"
#include "sim/output/json_text.hpp"

/// The lessons of a page and the predictions of its students, who are told apart by a random name that each tab of a
/// browser makes. A lesson's answer is only given to a student who has predicted, or has said not to want to. The
/// predictions are kept until the program ends, and in a file if one was named. Threads may call all functions.
namespace syncline::serve {

class Classroom {
public:
    /// `file`: of predictions, to which all are appended; empty: none. Throws ConfigError if a lesson is not sound or
    /// the file is not one of predictions, and OutputError if it cannot be written.
    Classroom(std::vector<lesson::Lesson> lessons, std::string file);

    struct Taught {
        lesson::Lesson lesson;
        lesson::Questionnaire questionnaire;
    };

    /// [{id, name, title}].
    Json list() const;
    /// Returns null if there is no lesson of this number.
    const Taught* find(int number) const;
    /// Returns whether a student may see the answer; always, if the lesson has nothing to predict.
    bool done(const Taught& taught, const std::string& student) const;
    /// Returns the lesson as far as a student may see it.
    Json show(const Taught& taught, const std::string& student) const;
    /// Keeps a prediction; it replaces an earlier one. Throws OutputError.
    void predict(const Taught& taught, const std::string& student, lesson::Prediction prediction);
    /// Returns the student's predictions as CSV.
    std::string csv(const std::string& student) const;

    /// Students beyond this number are refused: nobody has as many tabs.
    static constexpr std::size_t most_students = 2000;
    /// Returns false if there are too many.
    bool admits(const std::string& student) const;

private:
    const lesson::Prediction* prediction_of(const Taught& taught, const std::string& student) const;

    std::vector<Taught> taught_;
    std::string file_;
    mutable std::mutex mutex_;
    std::map<std::string, std::map<int, lesson::Prediction>> predictions_;  ///< by student and lesson
};

}  // namespace syncline::serve
