#include "sim/config/study_file.hpp"

#include <algorithm>
#include <limits>

namespace syncline::config {

namespace {

/// Any keys: those of a scenario, read point by point.
void open(Fields&) {}

void describe(Fields& fields, Question& question) {
    fields.text(
        {"objective",
         "What is best: a figure of the results, such as `throughput` or `iteration_time_s`, or an expression."},
        question.objective);
    std::vector<std::string> constraints;
    fields.texts({"constraints", "Conditions, in SQL, that must hold of a point's results."}, constraints);
    for (std::string& text : constraints) question.constraints.push_back({std::move(text), {}});
    fields.integer({"budget", "How many simulations may be done; by default as many as there are points."},
                   question.budget, 1);
    fields.integer({"top", "How many of the best are shown."}, question.top, 1);
    fields.each({"cheaper",
                 "Settings with which a simulation costs less, cheapest first, for a search that cannot "
                 "afford all points: each a mapping from keys to values."},
                open);
}

}  // namespace

void describe(Fields& fields, StudyFile& study) {
    std::string description;
    fields.text({"name", "Shown in results; the file's name by default."}, study.name);
    if (study.name.find('/') != std::string::npos)
        fields.reject("name", "a study's name is no path", "results are kept in a directory of this name");
    fields.text({"description", "For people."}, description);
    fields.section({"base", "A scenario, or the name of its file.", true, true}, open);
    fields.section({"axes",
                    "From a scenario's key, a path such as `training.ranks`, to its values: a list, a range "
                    "`2..64 step 2`, powers `2^1..2^10`, or one value. `variant` goes over the base's variants. The "
                    "points are the product of all axes, the last one fastest."},
                   open);
    fields.each({"zip", "Axes that go together, value by value; all of one item have equally many."}, open);
    fields.texts({"include", "Conditions, in SQL, on the axes' names: points of which none holds are left out."},
                 study.include);
    fields.texts({"exclude", "Conditions, in SQL, on the axes' names: points of which one holds are left out."},
                 study.exclude);
    fields.integer({"repeat", "How often each point is done, each time with a seed of its own."}, study.repeat, 1,
                   1 << 20);
    fields.integer({"seed", "Of the first repetition; the next has the next one."}, study.seed, 0,
                   std::numeric_limits<std::int64_t>::max() - (1 << 20));
    fields.named({"draw", "From a scenario's key to a distribution, of which each repetition has a value."},
                 [&](const std::string& key, Fields& inner) {
                     study.draw.emplace_back(key, Distribution()).second.describe(inner);
                 });
    fields.section({"question", "What `syncline explore` looks for."},
                   [&](Fields& inner) { describe(inner, study.question); });
}

bool is_study(const Node& document) {
    return std::any_of(document.entries.begin(), document.entries.end(), [](const Entry& entry) {
        return entry.key == "base" || entry.key == "axes" || entry.key == "zip" || entry.key == "draw";
    });
}

}  // namespace syncline::config
