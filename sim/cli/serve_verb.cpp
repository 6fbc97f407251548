#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/interrupt.hpp"
#include "sim/base/number.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/knob_keys.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/data_roots.hpp"
#include "sim/document/presets.hpp"
#include "sim/lesson/lesson.hpp"
#include "sim/output/written_files.hpp"
#include "sim/process/pool.hpp"
#include "sim/replay/native.hpp"
#include "sim/serve/answers.hpp"
#include "sim/serve/http.hpp"

namespace syncline::cli {

namespace {

struct ServeArguments {
    std::optional<std::string> subject;
    std::optional<int> port;
    std::size_t jobs = default_jobs();
    std::string predictions;
};

/// Returns the lesson that a word names, as a number or as it is listed; nothing if it is something else.
std::optional<int> lesson_of(const std::vector<lesson::Lesson>& lessons, const std::string& word) {
    for (const lesson::Lesson& one : lessons)
        if (word == std::to_string(one.number) || word == one.name || word == one.scenario.stem().string())
            return one.number;
    return {};
}

bool is_number(const std::string& word) {
    return number_in<int>(word).has_value();
}

/// Returns all lessons. A scenario of one's own can be shown where there are none.
std::vector<lesson::Lesson> lessons_beside(const std::optional<std::string>& subject) {
    const std::filesystem::path folder = config::data_folder("scenarios/lessons");
    if (subject && !is_number(*subject) && !std::filesystem::is_directory(folder)) return {};
    return lesson::load_lessons(folder);
}

void serve_page(const ServeArguments& options) {
    std::vector<lesson::Lesson> lessons = lessons_beside(options.subject);
    std::optional<int> lesson;
    std::optional<serve::NamedScenario> scenario;
    if (options.subject) {
        lesson = lesson_of(lessons, *options.subject);
        // For a number that no lesson has, this error lists the lessons.
        if (!lesson && is_number(*options.subject)) lesson::find_lesson(lessons, *options.subject);
        if (!lesson) scenario = {config::find_argument(*options.subject, {"scenario", "measured"}), *options.subject};
    }
    // Errors of the scenario are shown here, not in the page.
    if (scenario && !config::load_scenario(scenario->file, {}, inspect).knobs.empty())
        config::check_knobs(scenario->file, inspect);
    serve::Classroom classroom(std::move(lessons), options.predictions);
    HeldInterrupts interrupts;
    serve::SimulatorProcess simulations(serve::answer, {.jobs = options.jobs});
    serve::Api api(simulations, classroom, scenario, lesson);
    serve::Http http(api, options.port);
    // If nobody can read the address, nothing is served.
    write_stdout(http.address() + "\n");
    say("Open this address in a browser on this machine. Ctrl-C ends it.\n");
    std::future<void> serving = std::async(std::launch::async, [&] { http.serve(); });
    const auto has_ended = [&](std::chrono::milliseconds within) {
        return serving.wait_for(within) == std::future_status::ready;
    };
    constexpr std::chrono::milliseconds now(0), moment(200);
    constexpr int glance_ms = 500;
    pollfd ready{interrupts.descriptor(), POLLIN, 0};
    while (poll(&ready, 1, glance_ms) <= 0 && !has_ended(now)) {
    }
    // Requests that wait for a simulation end with it. Nobody waits for clients that are slow.
    simulations.stop();
    http.stop();
    const bool idle = has_ended(moment);
    say("stopped\n");
    if (!idle) std::_Exit(ok);
    serving.get();
    if (!interrupts.interrupted()) throw OutputError("error: the system lets nobody connect any more");
}

}  // namespace

void add_serve(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "serve", "syncline serve ring-allreduce",
                 "Show a lesson or a scenario as a live page on this machine: predict, turn the knobs, see why");
    const auto options = std::make_shared<ServeArguments>();
    verb->add_option("SCENARIO|LESSON", options->subject,
                     "Scenario, or lesson by number or name (2, ring-allreduce); without it, the list of lessons");
    verb->add_option("--port", options->port, "Port on 127.0.0.1; 0 takes a free one (default: 8023, or a free one)")
        ->type_name("PORT")
        ->check(CLI::Range(0, 65535));
    verb->add_option("--jobs", options->jobs, "Number of parallel simulations (default: number of cores)")
        ->type_name("N")
        ->check(CLI::Range(1, 1024));
    verb->add_option("--predictions", options->predictions,
                     "Also append all predictions with the answers to this CSV file")
        ->type_name("FILE")
        ->check(not_empty);
    verb->callback([options, &action] { action = [options] { serve_page(*options); }; });
}

}  // namespace syncline::cli
