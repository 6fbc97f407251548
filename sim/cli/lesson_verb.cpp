#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/asked_prediction.hpp"
#include "sim/cli/run_verb.hpp"
#include "sim/cli/sheet.hpp"
#include "sim/cli/simulated_exam.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/document/data_roots.hpp"
#include "sim/lesson/exam.hpp"
#include "sim/lesson/lesson.hpp"
#include "sim/lesson/prediction.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/written_files.hpp"
#include "sim/serve/prediction_file.hpp"

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
    std::optional<std::uint32_t> variant;  ///< the seed of an exam's question

    bool on_terminal() const { return !no_pause && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }
    bool asks() const { return on_terminal() || predict || !predictions.empty(); }
};

std::string table(const std::vector<lesson::Lesson>& lessons) {
    std::vector<text::Row> rows{{"lesson", "name", "question"}};
    for (const lesson::Lesson& one : lessons) rows.push_back({fmt::format("{}", one.number), one.name, one.title});
    return text::aligned(rows, 2, TableOptions{}.on_stdout()) +
           "\n`syncline lesson NUMBER` runs a lesson; with --handout it only prints the text, without the answers.\n"
           "`syncline serve NUMBER` shows it in a browser, with knobs to turn.\n";
}

/// Waits for Enter, or for the end of the input.
void wait_for_enter(const char* what) {
    say("Press Enter {} ", what);
    for (int letter = std::getchar(); letter != '\n' && letter != EOF;) letter = std::getchar();
    say("\n");
}

/// Checks that predictions can be kept before somebody types them.
void require_predictions(const LessonArguments& options) {
    if (options.predictions.empty()) return;
    serve::require_prediction_file(options.predictions);
    require_writable(options.predictions);
}

/// Returns what the user predicts, once it is kept.
lesson::Prediction predicted(const lesson::Lesson& lesson, const lesson::Questionnaire& questionnaire,
                             const LessonArguments& options) {
    lesson::Prediction prediction = asked_prediction(questionnaire);
    const std::string lines = serve::prediction_lines(lesson, questionnaire, prediction);
    if (!options.predictions.empty() && !lines.empty()) serve::append_predictions(options.predictions, lines);
    return prediction;
}

void teach(const lesson::Lesson& lesson, const LessonArguments& options) {
    const auto section = [&](lesson::Part part) { return lesson.sections.at(part).text; };
    lesson::Questionnaire questionnaire;
    if (options.asks()) questionnaire = lesson::questionnaire(lesson);
    require_predictions(options);
    write_stdout(fmt::format("# {}\n\n", lesson.title) + section(lesson::question) + section(lesson::prediction));
    lesson::Prediction prediction;
    if (!questionnaire.rows.empty())
        prediction = predicted(lesson, questionnaire, options);
    else if (options.on_terminal())
        wait_for_enter("when you have your prediction");
    write_stdout(section(lesson::run));
    run(RunOptions{.scenario = lesson.scenario.string(), .check = true});
    if (const std::string text = compared(questionnaire, prediction); !text.empty()) write_stdout("\n" + text);
    write_stdout("\n" + section(lesson::answer) + section(lesson::exercises));
    if (options.on_terminal()) wait_for_enter("for the answers to the exercises");
    for (std::size_t part = lesson::solutions; part < lesson.sections.size(); ++part)
        write_stdout(lesson.sections[part].text);
}

void examine(const lesson::Exam& exam, const std::string& scenario, const LessonArguments& options) {
    const std::vector<double> found = simulated(exam, scenario);
    const lesson::Lesson answered = lesson::answered(exam, found);
    const lesson::Questionnaire questionnaire = lesson::questionnaire(answered);
    require_predictions(options);
    write_stdout(lesson::sheet(exam) + "\n");
    lesson::Prediction prediction;
    if (options.asks() && !questionnaire.rows.empty())
        prediction = predicted(answered, questionnaire, options);
    else if (options.on_terminal())
        wait_for_enter("when you have your answer");
    if (const std::string text = compared(questionnaire, prediction); !text.empty()) write_stdout("\n" + text + "\n");
    write_stdout(lesson::solution(exam, found));
}

/// A handout's page has a title.
struct Handout {
    std::string title, text;
};

Handout handout_of(const lesson::Lesson& lesson, const LessonArguments& options) {
    if (!options.variant) return {lesson.title, options.answers ? lesson.handout : lesson::without_answers(lesson)};
    const lesson::Exam exam = lesson::exam(lesson, *options.variant);
    std::string text = lesson::sheet(exam);
    if (options.answers) text += "\n" + lesson::solution(exam, simulated(exam, lesson.scenario.string()));
    return {exam.title, text};
}

void hand_out(const lesson::Lesson& lesson, const LessonArguments& options) {
    const Handout handout = handout_of(lesson, options);
    if (options.file.empty()) return write_stdout(handout.text);
    write_sheet(handout.text, handout.title, lesson.scenario.parent_path(), options.file);
}

void show(const LessonArguments& options) {
    const std::vector<lesson::Lesson> lessons = lesson::load_lessons(config::data_folder(folder));
    if (!options.file.empty()) require_sheet_name(options.file);
    if (!options.lesson) return write_stdout(table(lessons));
    const lesson::Lesson& lesson = lesson::find_lesson(lessons, *options.lesson);
    if (options.handout) return hand_out(lesson, options);
    if (options.variant) return examine(lesson::exam(lesson, *options.variant), lesson.scenario.string(), options);
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
    verb->add_option("--variant", options->variant,
                     "Give an exam's question in place of the lesson: the same reasoning with numbers that this seed "
                     "draws, from 0 to 4294967295")
        ->type_name("SEED")
        ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()))
        ->needs(which);
    verb->callback([options, &action] { action = [options] { show(*options); }; });
}

}  // namespace syncline::cli
