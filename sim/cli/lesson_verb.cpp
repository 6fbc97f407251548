#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/asked_prediction.hpp"
#include "sim/cli/run_verb.hpp"
#include "sim/cli/sheet.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/document/data_roots.hpp"
#include "sim/lesson/lesson.hpp"
#include "sim/lesson/prediction.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

constexpr const char* folder = "scenarios/lessons";

struct LessonArguments {
    std::optional<std::string> lesson;
    bool handout = false;
    bool answers = false;
    bool no_pause = false;
    bool predict = false;
    std::string predictions;
    std::string file;
};

std::string table(const std::vector<lesson::Lesson>& lessons) {
    std::vector<text::Row> rows{{"lesson", "name", "question"}};
    for (const lesson::Lesson& one : lessons) rows.push_back({fmt::format("{}", one.number), one.name, one.title});
    return text::aligned(rows, 2, TableOptions{}.on_stdout()) +
           "\n`syncline lesson NUMBER` runs a lesson; with --handout it only prints the text, without the answers.\n";
}

/// Waits for Enter, or for the end of the input.
void wait_for_enter(const char* what) {
    say("Press Enter {} ", what);
    for (int letter = std::getchar(); letter != '\n' && letter != EOF;) letter = std::getchar();
    say("\n");
}

void teach(const lesson::Lesson& lesson, const LessonArguments& options) {
    const bool pauses = !options.no_pause && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
    const auto section = [&](lesson::Part part) { return lesson.sections.at(part).text; };
    lesson::Questionnaire questionnaire;
    if (pauses || options.predict || !options.predictions.empty()) questionnaire = lesson::questionnaire(lesson);
    if (!options.predictions.empty()) {
        kept_predictions(options.predictions);
        require_writable(options.predictions);
    }
    write_stdout(fmt::format("# {}\n\n", lesson.title) + section(lesson::question) + section(lesson::prediction));
    lesson::Prediction prediction;
    if (!questionnaire.rows.empty())
        prediction = asked_prediction(questionnaire);
    else if (pauses)
        wait_for_enter("when you have your prediction");
    const std::string lines = prediction_lines(lesson, questionnaire, prediction);
    if (!options.predictions.empty() && !lines.empty())
        write_file(options.predictions, kept_predictions(options.predictions) + lines);
    write_stdout(section(lesson::run));
    run(RunOptions{.scenario = lesson.scenario.string(), .check = true});
    if (const std::string text = compared(questionnaire, prediction); !text.empty()) write_stdout("\n" + text);
    write_stdout("\n" + section(lesson::answer) + section(lesson::exercises));
    if (pauses) wait_for_enter("for the answers to the exercises");
    for (std::size_t part = lesson::solutions; part < lesson.sections.size(); ++part)
        write_stdout(lesson.sections[part].text);
}

void hand_out(const lesson::Lesson& lesson, const LessonArguments& options) {
    const std::string text = options.answers ? lesson.handout : lesson::without_answers(lesson);
    if (options.file.empty()) return write_stdout(text);
    write_sheet(text, lesson.title, lesson.scenario.parent_path(), options.file);
}

void show(const LessonArguments& options) {
    const std::vector<lesson::Lesson> lessons = lesson::load_lessons(config::data_folder(folder));
    if (!options.file.empty()) require_sheet_name(options.file);
    if (!options.lesson) return write_stdout(table(lessons));
    const lesson::Lesson& lesson = lesson::find_lesson(lessons, *options.lesson);
    if (options.handout) return hand_out(lesson, options);
    teach(lesson, options);
}

}  // namespace

void add_lesson(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "lesson", "syncline lesson ring-allreduce",
                              "List the lessons, or run one: question, prediction, simulation, answer, exercises");
    const auto options = std::make_shared<LessonArguments>();
    CLI::Option* const which =
        verb->add_option("NAME|NUMBER", options->lesson,
                         fmt::format("Lesson in {}/ (parameter-server, or 1); without it, list the lessons", folder));
    CLI::Option* const handout =
        verb->add_flag("--handout", options->handout, "Print question and exercises as Markdown, without running it")
            ->needs(which);
    verb->add_flag("--answers", options->answers, "Print the whole lesson, with the answers")->needs(handout);
    verb->add_option("--out", options->file,
                     "Write the handout to this file, .md, .html (needs pandoc) or .pdf (pandoc and Chromium)")
        ->type_name("FILE")
        ->check(not_empty)
        ->needs(handout);
    verb->add_flag("--no-pause", options->no_pause,
                   "Do not ask for a prediction, nor wait for Enter before the answers (on a terminal)")
        ->needs(which)
        ->excludes(handout);
    verb->add_flag("--predict", options->predict,
                   "Ask for a prediction before the simulation and compare it, also without a terminal")
        ->needs(which)
        ->excludes(handout);
    verb->add_option("--predictions", options->predictions,
                     "Ask for a prediction, and append it with the answer to this CSV file")
        ->type_name("FILE")
        ->check(not_empty)
        ->needs(which)
        ->excludes(handout);
    verb->callback([options, &action] { action = [options] { show(*options); }; });
}

}  // namespace syncline::cli
