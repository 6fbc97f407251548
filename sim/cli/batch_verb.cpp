#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "sim/batch/batch.hpp"
#include "sim/batch/listing.hpp"
#include "sim/batch/studies.hpp"
#include "sim/cli/batch_options.hpp"
#include "sim/cli/batch_progress.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/output/written_files.hpp"
#include "sim/query/derived.hpp"
#include "sim/query/row_text.hpp"
#include "sim/replay/native.hpp"

namespace syncline::cli {

namespace {

namespace fs = std::filesystem;
using namespace batch;

struct BatchArguments {
    std::vector<std::string> studies, assignments;
    BatchOptions batch;
    std::string directory;
    std::optional<Shard> shard;
    Format format = Format::table;
    TableOptions tables;
    bool resume = false, keep_going = false, dry = false;
};

fs::path directory_for(const std::vector<PlannedStudy>& studies, const BatchArguments& options, const Shard& shard) {
    fs::path directory = options.directory;
    if (directory.empty()) {
        std::error_code error;
        const bool folder = fs::is_directory(options.studies.front(), error);
        const std::string name = options.studies.size() > 1 ? "batch"
                                 : folder ? fs::canonical(options.studies.front(), error).filename().string()
                                          : studies.front().study.name();
        directory = (name.empty() ? "batch" : name) + ".results";
    }
    return shard.whole() ? directory : directory / shard.directory();
}

/// Stores the studies' points and returns the studies' names.
std::vector<std::string> note_points(Store& store, const std::vector<PlannedStudy>& studies, const Shard& shard) {
    std::vector<std::string> names;
    for (const PlannedStudy& planned : studies) {
        add_points(store, planned, shard);
        names.push_back(planned.study.name());
    }
    return names;
}

Store::Counts counts_of(Store& store, const std::vector<std::string>& studies) {
    Store::Counts all;
    for (const std::string& study : studies) {
        const Store::Counts counts = store.counts(study);
        all.points += counts.points;
        all.pending += counts.pending;
        all.done += counts.done;
        all.failed += counts.failed;
    }
    return all;
}

std::vector<std::string> to_run(Store& store, const std::vector<std::string>& studies, bool failed) {
    std::vector<std::string> runs;
    std::set<std::string> known;
    for (const std::string& study : studies)
        for (std::string& id : store.to_run(study, failed))
            if (known.insert(id).second) runs.push_back(std::move(id));
    return runs;
}

void say_failures(Store& store, const std::vector<std::string>& studies) {
    constexpr std::size_t few = 5;
    for (const std::string& study : studies)
        for (const Failure& failure : first_failures(store, study, few))
            say("failed: {} {} ({}): {}\n", study, failure.point, failure.settings, failure.message);
}

void run(std::vector<PlannedStudy> planned, const Shard& shard, const fs::path& directory,
         const BatchArguments& options) {
    const bool there = Store::exists(directory);
    if (options.resume && !there)
        throw OutputError(fmt::format("error: nothing to resume: {} has no results.db", directory.string()));
    if (!options.keep_going) require_fit(planned);
    Store store(directory, Store::Mode::create);
    const std::vector<std::string> studies = note_points(store, planned, shard);
    planned.clear();  // the forked workers do not inherit its memory
    const Store::Counts before = counts_of(store, studies);
    if (there && !options.resume)
        say("note: {} already has results: {} of {} points are done\n", directory.string(), before.done, before.points);

    BatchOutcome outcome;
    {
        BatchProgressLine progress;
        outcome = run_batch(store, to_run(store, studies, options.batch.retry_failed), options.batch,
                            [&](const BatchProgress& now) { progress.show(now); });
    }
    write_derived(store);
    const Store::Counts after = counts_of(store, studies);
    if (outcome.interrupted)
        throw Interrupted(fmt::format("{} of {} points are done; continue with --resume", after.done, after.points));
    say("{} points: {} done ({} before), {} failed; results in {}\n", after.points, after.done, before.done,
        after.failed, (directory / "results.csv").string());
    say_failures(store, studies);
    if (after.failed > 0) throw Failed(fmt::format("{} of {} points failed", after.failed, after.points));
}

void batch_verb(const BatchArguments& options) {
    const Shard shard = options.shard ? *options.shard : slurm_shard().value_or(Shard{});
    std::vector<PlannedStudy> studies =
        shown_as("reading the study", [&] { return read_studies(options.studies, options.assignments, inspect); });
    const fs::path directory = directory_for(studies, options, shard);
    if (!options.dry) return run(std::move(studies), shard, directory, options);
    const Rows points = list_points(studies, shard, directory);
    say("{} points\n", points.rows.size());
    write_stdout(options.format == Format::json  ? to_json(points)
                 : options.format == Format::csv ? to_csv(points)
                                                 : to_table(points, options.tables.on_stdout()));
    if (!options.keep_going) require_fit(studies);
}

}  // namespace

void add_batch(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "batch", "syncline batch zhang-2021-ranks --out stored",
                              "Simulate every point of a study in parallel and store the results");
    const auto options = std::make_shared<BatchArguments>();
    verb->add_option("STUDY", options->studies,
                     "Studies or scenarios: files, names of those in scenarios/studies/ or scenarios/ (allreduce), or "
                     "directories of files")
        ->required();
    add_set(*verb, options->assignments,
            "Set a key of every study, or of every point; later values override earlier ones");
    add_batch_options(*verb, options->batch);
    add_out(*verb, options->directory, "Directory of the results (default: the study's name with the suffix .results)");
    verb->add_flag("--resume", options->resume, "Continue from existing results; fail if there are none");
    verb->add_flag("--keep-going", options->keep_going, "Record points that do not fit as failed and run the others");
    verb->add_option_function<std::string>(
            "--shard", [options](const std::string& text) { options->shard = parse_shard(text); },
            "Run only part I of N and write it to DIR/shard-I-of-N (default: the task of a Slurm array job)")
        ->option_text("I/N")
        ->check([](const std::string& text) {
            return parse_shard(text) ? "" : fmt::format("'{}' is not a shard; write I/N, for example 1/4", text);
        });
    CLI::Option* const dry =
        verb->add_flag("--dry-run", options->dry, "List the points without running them or writing files");
    add_format(*verb, options->format);
    verb->get_option("--format")->needs(dry);
    add_wide(*verb, options->tables);
    verb->get_option("--wide")->needs(dry);
    verb->callback([options, &action] { action = [options] { batch_verb(*options); }; });
}

}  // namespace syncline::cli
