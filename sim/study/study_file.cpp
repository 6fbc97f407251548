#include "sim/study/study_file.hpp"

#include <algorithm>
#include <limits>

namespace syncline::config {

namespace {

/// Accepts any keys: keys of a scenario are read point by point.
void open(Fields&) {}

void describe(Fields& fields, Question& question) {
    fields.text({"objective",
                 "Objective to minimise: a result's field, such as `iteration_time_s`, or an expression. Throughputs, "
                 "efficiencies, utilisations and bandwidths are maximised; `min:` or `max:` overrides."},
                question.objective);
    std::vector<std::string> constraints;
    fields.texts(
        {"constraints", "Conditions, in SQL, that a point's results must satisfy: `memory.total_bytes < 16e9`."},
        constraints);
    for (std::string& text : constraints) question.constraints.push_back({std::move(text), {}});
    fields.integer(
        {"budget",
         "Maximum number of simulations; if there are more points, they are searched. Default: the number of points."},
        question.budget, 1);
    fields.integer({"top", "Number of best points to show. Default: `10`."}, question.top, 1);
    fields.each({"cheaper",
                 "Settings that make a simulation cheaper, cheapest first, for a search that cannot afford all points; "
                 "each is a mapping from keys to values."},
                open);
}

}  // namespace

void describe(Fields& fields, StudyFile& study) {
    std::string description;
    fields.text({"name", "Name shown in results. Default: the file's name."}, study.name);
    if (study.name.find('/') != std::string::npos)
        fields.reject("name", "a study's name must not be a path", "results are stored in a directory of this name");
    fields.text({"description", "Text for readers."}, description);
    fields.section({"base", "Base scenario, or the name of its file.", true, true}, open);
    fields.section({"axes",
                    "Axes: a scenario's keys (`training.ranks`), or `variant`, with their values: a list, `2..64 step "
                    "2`, `2^1..2^10`, or one value. Points are their product; the last varies fastest."},
                   open);
    fields.each(
        {"zip",
         "Joined axes, which vary together value by value, after `axes`; all of one item have equally many values."},
        open);
    fields.texts({"include",
                  "Conditions, in SQL, on the axes' names or their last parts: points that satisfy none are left out."},
                 study.include);
    fields.texts({"exclude",
                  "Conditions, in SQL, on the axes' names or their last parts: points that satisfy one are left out."},
                 study.exclude);
    fields.integer({"repeat", "Number of repetitions of each point, each with its own seed."}, study.repeat, 1,
                   1 << 20);
    fields.integer({"seed", "Seed of the first repetition; each further repetition increments it."}, study.seed, 0,
                   std::numeric_limits<std::int64_t>::max() - (1 << 20));
    fields.named({"draw", "Distributions by a scenario's key; a value is drawn for each repetition."},
                 [&](const std::string& key, Fields& inner) {
                     study.draw.emplace_back(key, Distribution()).second.describe(inner);
                 });
    fields.section({"question", "Question that `syncline explore` answers."},
                   [&](Fields& inner) { describe(inner, study.question); });
}

bool is_study(const Node& document) {
    return std::any_of(document.entries.begin(), document.entries.end(), [](const Entry& entry) {
        return entry.key == "base" || entry.key == "axes" || entry.key == "zip" || entry.key == "draw";
    });
}

}  // namespace syncline::config
