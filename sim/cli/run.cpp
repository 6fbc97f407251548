#include <fmt/format.h>

#include <memory>
#include <string>

#include "sim/analysis/dry_run.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/files.hpp"
#include "sim/output/files.hpp"
#include "sim/replay/native.hpp"

namespace syncline::cli {

namespace {

struct Options {
    std::string scenario;
    std::vector<std::string> assignments;
    Format format = Format::table;
    std::string directory;
    std::uint64_t seed = 1;
    bool timing = false;
    bool dry = false;
};

/// With the seed of what is random.
config::Scenario load(const Options& options) {
    config::Scenario scenario = config::load_scenario(options.scenario, options.assignments, inspect);
    for (const std::string& why : scenario.left_out) say("note: left out {}\n", why);
    for (config::Variant& variant : scenario.variants) {
        variant.plan.placement.seed = options.seed;
        if (variant.collective) variant.collective->placement.seed = options.seed;
    }
    return scenario;
}

void run_dry(const config::Scenario& scenario, const Options& options) {
    DryRunReport report{scenario.name, {}};
    for (const config::Variant& variant : scenario.variants) {
        report.results.push_back(variant.collective ? dry_run(variant.cluster, *variant.collective)
                                                    : dry_run(variant.cluster, variant.model, variant.plan));
        report.results.back().variant = variant.name;
    }
    write_result(report, options.format, options.directory, "dry-run");
}

void run_exchanges(const config::Scenario& scenario, const Options& options) {
    SweepReport report{scenario.name, {}};
    for (const config::Variant& variant : scenario.variants) {
        ProgressLine progress(variant.name, options.timing);
        report.results.push_back(simulate_sweep(variant.cluster, *variant.collective, progress.watch()));
        report.results.back().variant = variant.name;
    }
    write_result(report, options.format, options.directory, "results");
}

void run(const Options& options) {
    constexpr double steady = 1e-6;
    const config::Scenario scenario = load(options);
    if (options.dry) return run_dry(scenario, options);
    if (scenario.variants.front().collective) return run_exchanges(scenario, options);
    Report report{scenario.name, {}};
    for (const config::Variant& variant : scenario.variants) {
        ProgressLine progress(variant.name, options.timing);
        Result result = simulate(variant.cluster, variant.model, variant.plan, progress.watch());
        result.variant = variant.name;
        if (result.time.drift > steady) {
            say("note: {}: the last two iterations differ by {:.2g} %; raise training.iterations for a steady "
                "one\n",
                variant.name, 100 * result.time.drift);
        }
        report.results.push_back(std::move(result));
    }
    write_result(report, options.format, options.directory, "results");
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
    CLI::App* verb =
        program.add_subcommand("run", "Replay one training iteration, or one exchange, of each variant of a scenario");
    const auto options = std::make_shared<Options>();
    verb->add_option("SCENARIO", options->scenario, "the scenario file")->required();
    verb->add_option(
            "--set", options->assignments,
            "change a key of every variant: training.ranks=64, platform.fabric.bandwidth='100 Gbps'; last wins")
        ->option_text("KEY.PATH=VALUE ...")
        ->allow_extra_args(false);
    add_format(*verb, options->format);
    verb->add_option("--out", options->directory, "also write results.json, results.csv and results.txt into DIR")
        ->option_text("DIR")
        ->check([](const std::string& directory) { return directory.empty() ? "is empty" : ""; });
    verb->add_flag("--dry-run", options->dry,
                   "simulate nothing: list buckets, which algorithm would exchange each, and why");
    add_seed(*verb, options->seed);
    verb->add_flag("--timing", options->timing, "say on standard error how long each simulation takes, wall clock");
    verb->callback([options, &action] { action = [options] { run(*options); }; });
}

}  // namespace syncline::cli
