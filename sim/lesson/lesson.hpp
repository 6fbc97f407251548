#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// Lessons: two files with the same name, `NN-name.md`, the handout, and `NN-name.yaml`, the scenario, whose
/// expectations (`expect`) check the handout's answer. The handout begins with a heading `# …`, its title, and has the
/// sections `## …` of section_names, in that order; after them may follow those of further_sections, in that order.
namespace syncline::lesson {

struct Section {
    std::string heading;  ///< "Answer"
    std::string text;     ///< with its heading; ends with a newline
};

struct Lesson {
    int number = 0;
    std::string name;   ///< without its number: "parameter-server"
    std::string title;  ///< the question in one sentence
    std::string handout;
    std::vector<Section> sections;
    std::filesystem::path scenario;
};

enum Part { question, prediction, run, answer, exercises, solutions };
inline const std::vector<std::string> section_names{"Question", "Prediction", "Run",
                                                    "Answer",   "Exercises",  "Answers to the exercises"};
inline const std::vector<std::string> further_sections{"Typical mistakes", "Picture", "At a real machine"};

/// Returns the handout for students: its title and the sections that do not give the answer away.
std::string without_answers(const Lesson& lesson);

/// Returns the lessons in `folder`, by number. Throws ConfigError if there are none, if two have the same number, or if
/// a handout lacks its sections or its scenario.
std::vector<Lesson> load_lessons(const std::filesystem::path& folder);

/// Returns the lesson that `word` names: by its number, by its name or the beginning of one, or by the stem of its
/// files. Throws ConfigError, with the name that was probably meant.
const Lesson& find_lesson(const std::vector<Lesson>& lessons, const std::string& word);

}  // namespace syncline::lesson
