#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "sim/batch/batch.hpp"
#include "sim/batch/studies.hpp"
#include "sim/cli/batch_options.hpp"
#include "sim/cli/batch_progress.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/explore/explore.hpp"
#include "sim/output/written_files.hpp"
#include "sim/query/derived.hpp"
#include "sim/replay/native.hpp"

namespace syncline::cli {

namespace {

using namespace batch;

struct ExploreArguments {
    std::string study;
    std::vector<std::string> assignments, constraints;
    std::optional<std::string> objective;
    std::optional<std::int64_t> budget, top;
    std::uint64_t seed = 1;
    BatchOptions batch;
    std::string directory;
    Format format = Format::table;
    TableOptions tables;
    bool keep_going = false;
};

config::Condition typed(const std::string& option, const std::string& text) {
    return {text, {option, 1, 1, text}};
}

/// Returns the study's question, with the options of the command line in place of its parts.
ExploreOptions question_of(const PlannedStudy& planned, const ExploreArguments& options) {
    const config::Question& question = planned.study.question();
    ExploreOptions asked;
    if (options.objective)
        asked.objective = parse_objective(typed("--objective", *options.objective));
    else
        asked.objective = parse_objective({question.objective, {planned.path, 1, 1, question.objective}});
    asked.constraints = question.constraints;
    if (!options.constraints.empty()) asked.constraints.clear();
    for (const std::string& text : options.constraints) asked.constraints.push_back(typed("--constraint", text));
    asked.budget = options.budget.value_or(question.budget);
    asked.top = options.top.value_or(question.top > 0 ? question.top : ExploreOptions{}.top);
    asked.seed = options.seed;
    asked.retry_failed = options.batch.retry_failed;
    return asked;
}

void explore_verb(const ExploreArguments& options) {
    const std::vector<PlannedStudy> studies =
        shown_as("reading the study", [&] { return read_studies({options.study}, options.assignments, inspect); });
    const PlannedStudy& planned = studies.front();
    const ExploreOptions asked = question_of(planned, options);
    const bool some_fit = std::any_of(planned.points.begin(), planned.points.end(),
                                      [](const config::StudyPoint& point) { return point.misfit.empty(); });
    if (!some_fit) require_fit(studies);
    const std::string directory = options.directory.empty() ? planned.study.name() + ".results" : options.directory;
    Store store(directory, Store::Mode::create);
    const auto simulate = [&](const std::vector<std::string>& runs) {
        BatchProgressLine progress;
        return run_batch(store, runs, options.batch, [&](const BatchProgress& now) { progress.show(now); });
    };
    const Exploration exploration = explore(store, planned, asked, simulate);
    write_derived(store);
    if (exploration.interrupted)
        throw Interrupted(
            fmt::format("finished simulations are in {}; run the same command again to continue", directory));
    write_result(exploration, options.format, directory, "exploration", options.tables);
    if (exploration.counts.ranked == 0) throw Failed("no point can be ranked");
    // Infeasible points, for example for lack of memory, are a result, not a failure of the command.
    if (exploration.counts.failed > 0)
        say("note: {} of {} points failed: `syncline results {} --where \"status = 'failed'\"` lists them\n",
            exploration.counts.failed, exploration.plans, directory);
}

/// Adds an option whose value is a positive whole number.
void add_count(CLI::App& verb, const std::string& name, std::optional<std::int64_t>& count,
               const std::string& description) {
    verb.add_option(name, count, description)->option_text("N")->check(CLI::PositiveNumber);
}

}  // namespace

void add_explore(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "explore", "syncline explore zhang-2021-ranks --objective throughput",
                              "Find the best points of a study");
    const auto options = std::make_shared<ExploreArguments>();
    verb->add_option("STUDY", options->study,
                     "Study or scenario file, or the name of one in scenarios/studies/ or scenarios/ (vgg-16-64)")
        ->required();
    verb->add_option("--objective", options->objective, "{key study.question.objective} Default: the study's question")
        ->option_text("EXPRESSION");
    add_repeated(*verb, "--constraint", options->constraints, "CONDITION",
                 "{key study.question.constraints} May be repeated; replaces the study's conditions");
    add_count(*verb, "--budget", options->budget, "{key study.question.budget}");
    add_count(*verb, "--top", options->top, "{key study.question.top}");
    add_set(*verb, options->assignments,
            "Set a key of the study, or of every point; later values override earlier ones");
    add_batch_options(*verb, options->batch);
    add_out(
        *verb, options->directory,
        "Directory of the results, as for `batch`, and of exploration.json, .csv and .txt (default: the study's name "
        "with the suffix .results)");
    verb->add_flag("--keep-going", options->keep_going,
                   "No effect: points that do not fit are always skipped and counted by reason");
    add_seed(*verb, options->seed);
    verb->get_option("--seed")->description("Seed of the search (default: 1)");
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    verb->callback([options, &action] { action = [options] { explore_verb(*options); }; });
}

}  // namespace syncline::cli
