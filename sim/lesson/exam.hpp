#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/expectation.hpp"
#include "sim/lesson/lesson.hpp"

/// An exam's question of a lesson: its reasoning with other numbers, which a seed draws, so that every student has
/// their own. `exam/NN-name.md`, beside the lessons, has a title and these sections:
///
/// - **Numbers**: a table with the columns `name` and `values`: numbers between commas, one of which is drawn, or an
///   expression of names above it (sim/lesson/arithmetic.hpp).
/// - **Question**, in which `{name}` or `{expression}` stands for its value, as in all sections that follow; braces
///   with a colon in them are a mapping of YAML.
/// - **Settings**: lines `key: value`, what --set changes in the lesson's scenario. A line that begins with a blank
///   continues the one above it.
/// - **Answer**: text and a table as that of a lesson, but simulations fill the cells. They are empty or have the
///   tolerance of the column `formula (unit)` that follows: `± 0.5 %`.
/// - **Typical mistakes**, if any: a table as that of a lesson, with the formula only; empty where the mistake does not
///   matter.
///
/// The numbers are drawn in the order of the table by Mulberry32 from the state seed · 7 + the lesson's number.
namespace syncline::lesson {

struct Exam {
    std::string title;                  ///< with lesson and seed
    std::string name;                   ///< in tables of predictions: "ring-allreduce:42"
    std::string question;               ///< text, without a heading
    std::vector<std::string> settings;  ///< "platform.fabric.bandwidth=2 GBps"
    std::vector<std::string> variants;  ///< of the lesson's scenario, each once
    std::vector<Expectation> asked;     ///< a field of a result for each cell of the answer, row by row
    std::string answer;                 ///< text in which the table has a line for each row; see solution()
    std::string mistakes;               ///< the same; empty if there are none
    std::string file;                   ///< for messages
    std::string scenario;               ///< as the lesson's handout names it
};

/// Returns the exam of `lesson` with the numbers of `seed`. Throws ConfigError if there is none, or, at its line, if it
/// has another form.
Exam exam(const Lesson& lesson, std::uint32_t seed);

/// Returns the sheet for a student: the question, and a table to fill in.
std::string sheet(const Exam& exam);

/// Returns the answer, `found` being the values of `asked`: the table filled in, the command that simulates it, and the
/// typical mistakes.
std::string solution(const Exam& exam, const std::vector<double>& found);

/// Returns a lesson with the name of the exam, its answer and its wrong models, for questionnaire().
Lesson answered(const Exam& exam, const std::vector<double>& found);

}  // namespace syncline::lesson
