#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "sim/analysis/dry_run.hpp"
#include "sim/analysis/exchange_experiment.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/work_check.hpp"
#include "sim/config/scenario.hpp"
#include "sim/output/writers.hpp"
#include "sim/replay/native.hpp"

namespace syncline::cli {

namespace {

struct CollectiveArguments {
    std::vector<config::Argument> arguments;
    std::vector<std::string> assignments;
    Format format = Format::table;
    TableOptions tables;
    std::string directory;
    std::uint64_t seed = 1;
    bool dry = false, force = false;
};

void collective(const CollectiveArguments& options) {
    config::CollectiveQuestion question = config::load_collective(options.arguments, options.assignments, inspect);
    question.plan.placement.seed = options.seed;
    options.tables.check(table_columns(SweepResult{}), options.format);
    if (options.dry) {
        const DryRunReport report{"collective", {dry_run(question.cluster, question.plan)}};
        announce_work(report);
        return write_result(report, options.format, options.directory, "dry-run", options.tables);
    }
    check_work(question, options.force);
    ProgressLine progress(question.plan.selection ? question.plan.selection->name : question.plan.algorithm.name);
    if (!question.plan.sweep.empty())
        return write_result(simulate_sweep(question.cluster, question.plan, progress.watch()), options.format,
                            options.directory, "collective", options.tables);
    const CollectiveResult result = simulate_collective(question.cluster, question.plan, progress.watch());
    write_result(result, options.format, options.directory, "collective", options.tables);
}

/// Returns the table of algorithms: " By operation: allreduce: ring, ...; all-to-all: ...".
std::string algorithms_by_operation() {
    std::vector<std::string> parts;
    for (const std::string& operation : exchange_operations())
        parts.push_back(fmt::format("{}: {}", operation, fmt::join(exchange_algorithms(operation), ", ")));
    return fmt::format(" By operation: {}", fmt::join(parts, "; "));
}

}  // namespace

void add_collective(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "collective",
                              "syncline collective --platform p100-25g --ranks 16 --algorithm ring --bytes '100 MB'",
                              "Simulate a single collective operation, without computation");
    const auto options = std::make_shared<CollectiveArguments>();
    const auto add = [&](const std::string& key, const std::string& shown, const std::string& more = "") {
        const std::string description = fmt::format("{{key scenario.collective.{}}}{}", key, more);
        return add_argument(*verb, key, shown, description, options->arguments);
    };
    const char* choice = "NAME|FILE|{KEYS}";
    add_argument(*verb, "platform", choice, "{key scenario.platform}", options->arguments)->required();
    add_argument(*verb, "transport", choice, "{key platform.transport} This one replaces the platform's",
                 options->arguments);
    add("ranks", "N")->required();
    add("operation", "NAME", fmt::format(" One of {}", fmt::join(exchange_operations(), ", ")));
    add("algorithm", "NAME", algorithms_by_operation());
    add("selection", choice);
    add("overlay", choice, " Keys are written {topology: ring}");
    add("segment", "SIZE");
    add("msccl", "FILE");
    add("channels", "N|auto");
    add("peers", "all|one|inner-outer|machine");
    add("round", "K");
    add("placement", "ORDER");
    add("contributors", "N");
    add("receivers", "N");
    add("servers", "N");
    add("bytes", "SIZE");
    add("sweep", "bytes=RANGE", " Write bytes=4B..512MiB, bytes=4B..1MB*4 or bytes=1MB,2MB");
    add("fidelity", "message|folded|averaged|auto");
    add_set(*verb, options->assignments,
            "Set a key: platform.fabric.latency='5 us'; later values override earlier ones");
    CLI::Option* const dry =
        verb->add_flag("--dry-run", options->dry,
                       "Show the algorithm and the reason for its choice, and estimate the size of the simulation, "
                       "without simulating");
    add_force(*verb, options->force);
    add_seed(*verb, options->seed);
    verb->get_option("--seed")->description("Seed of `placement: random` (default: 1)");
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    add_columns(*verb, options->tables)->needs("--sweep")->excludes(dry);
    add_out(*verb, options->directory, "Also write the results to DIR as collective.json, .csv and .txt");
    verb->callback([options, &action] {
        const auto given = [&](const std::string& key, const std::string& value = "") {
            return std::any_of(options->arguments.begin(), options->arguments.end(), [&](const config::Argument& one) {
                return one.key == key && (value.empty() || one.value == value);
            });
        };
        if (!given("bytes") && !given("sweep") && !given("operation", "barrier"))
            throw CLI::RequiredError("--bytes or --sweep");
        action = [options] { collective(*options); };
    });
}

}  // namespace syncline::cli
