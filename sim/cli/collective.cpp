#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "sim/analysis/dry_run.hpp"
#include "sim/analysis/exchange_experiment.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/files.hpp"
#include "sim/replay/native.hpp"

namespace syncline::cli {

namespace {

struct Options {
    std::vector<config::Argument> arguments;
    std::vector<std::string> assignments;
    Format format = Format::table;
    std::string directory;
    std::uint64_t seed = 1;
    bool dry = false;
};

void collective(const Options& options) {
    config::CollectiveQuestion question = config::load_collective(options.arguments, options.assignments, inspect);
    question.plan.placement.seed = options.seed;
    if (options.dry) {
        const DryRunReport report{"collective", {dry_run(question.cluster, question.plan)}};
        return write_result(report, options.format, options.directory, "dry-run");
    }
    ProgressLine progress(question.plan.selection ? question.plan.selection->name : question.plan.algorithm.name);
    if (!question.plan.sweep.empty())
        return write_result(simulate_sweep(question.cluster, question.plan, progress.watch()), options.format,
                            options.directory, "collective");
    const CollectiveResult result = simulate_collective(question.cluster, question.plan, progress.watch());
    write_result(result, options.format, options.directory, "collective");
}

/// Returns the help of --algorithm, from the table of algorithms: "…: allreduce: ring, ...; all-to-all: ...".
std::string algorithms_by_operation() {
    std::vector<std::string> parts;
    for (const std::string& operation : exchange_operations())
        parts.push_back(fmt::format("{}: {}", operation, fmt::join(exchange_algorithms(operation), ", ")));
    return fmt::format("Algorithm by operation; the first of each is the default: {}", fmt::join(parts, "; "));
}

}  // namespace

void add_collective(CLI::App& program, Action& action) {
    CLI::App* verb =
        program.add_subcommand("collective", "Simulate a single collective operation, without computation");
    const auto options = std::make_shared<Options>();
    const auto add = [&](const std::string& key, const std::string& shown, const std::string& description) {
        return add_argument(*verb, key, shown, description, options->arguments);
    };
    add("platform", "NAME|FILE", "Platform file, or the name of one in platforms/ (required)")->required();
    add("transport", "NAME|FILE",
        "Software costs on top of the links: a file, the name of one in platforms/transports/, or {keys}");
    add("ranks", "N", "Number of participating ranks (required)")->required();
    add("operation", "NAME",
        fmt::format("Collective operation: {} (default: the first)", fmt::join(exchange_operations(), ", ")));
    add("algorithm", "NAME", algorithms_by_operation());
    add("selection", "NAME|FILE",
        "Table that chooses the algorithm by size and group, in place of --algorithm: a file, or the name of one in "
        "platforms/selections/");
    add("overlay", "TOPOLOGY",
        "Communication pattern (overlay) of trees, hierarchies and gossip: a shape, a file, a name, or {keys}");
    add("segment", "SIZE",
        "Maximum segment size, with its unit; applies to pipelined-tree, segmented-ring, "
        "ring-broadcast and double-binary-tree");
    add("peers", "all|one|inner-outer",
        "Peers of a gossip round: all neighbours (default), one, or in groups of which one rank at a time exchanges "
        "with "
        "another group (inner-outer)");
    add("round", "K",
        "Single round to simulate, from 0; applies to gossip whose peers change (default: mean over all rounds)");
    add("placement", "ORDER", "Rank placement: packed (default), round-robin, random, or [device, ...] by rank");
    add("contributors", "N",
        "Number of ranks that contribute, the first N; applies to allgather and allreduce (default: all)");
    add("receivers", "N",
        "Number of ranks that receive the result, the first N; applies to allgather and allreduce (default: all)");
    add("servers", "N", "Number of servers, each with a slice of the buffer; applies to parameter-server (default: 1)");
    add("bytes", "SIZE", "Buffer size on every rank, with its unit: 100MB, 4B, 64MiB (required without --sweep)");
    add("sweep", "bytes=RANGE",
        "Range or list of buffer sizes, in place of --bytes: bytes=4B..512MiB, bytes=4B..1MB*4 or bytes=1MB,2MB");
    add("fidelity", "message|folded|auto",
        "Simulate every message (default), simulate repeated steps once and extrapolate (folded), or fold above "
        "1,000,000 messages (auto)");
    verb->add_option("--set", options->assignments,
                     "Set a key: platform.fabric.latency='5 us'; later values override earlier ones")
        ->option_text("KEY.PATH=VALUE ...")
        ->allow_extra_args(false);
    verb->add_flag("--dry-run", options->dry, "Show which algorithm would run, and why, without simulating");
    add_seed(*verb, options->seed);
    add_format(*verb, options->format);
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
