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

/// "of allreduce: ring, ...; of all-to-all: ...", from the table of algorithms.
std::string algorithms_by_operation() {
    std::vector<std::string> parts;
    for (const std::string& operation : exchange_operations())
        parts.push_back(fmt::format("of {}: {}", operation, fmt::join(exchange_algorithms(operation), ", ")));
    return fmt::format("{} (the first of each by default)", fmt::join(parts, "; "));
}

}  // namespace

void add_collective(CLI::App& program, Action& action) {
    CLI::App* verb = program.add_subcommand("collective", "Replay one exchange alone, without computation");
    const auto options = std::make_shared<Options>();
    const auto add = [&](const std::string& key, const std::string& shown, const std::string& description) {
        return add_argument(*verb, key, shown, description, options->arguments);
    };
    add("platform", "NAME|FILE", "the platform: a file, or the name of one in platforms/ (required)")->required();
    add("transport", "NAME|FILE",
        "what software adds to the platform's wires: a file, the name of one in platforms/transports/, or {keys}");
    add("ranks", "N", "how many ranks take part (required)")->required();
    add("operation", "NAME", fmt::format("{} (the first by default)", fmt::join(exchange_operations(), ", ")));
    add("algorithm", "NAME", algorithms_by_operation());
    add("selection", "NAME|FILE",
        "in place of --algorithm: a table that chooses by size and group, or the name of one in platforms/selections/");
    add("overlay", "TOPOLOGY",
        "who exchanges with whom, in trees, hierarchies and gossip: a shape, a file, a name, or {keys}");
    add("segment", "SIZE",
        "of pipelined-tree and double-binary-tree: the buffer travels in pieces of at most so many bytes");
    add("peers", "all|one|inner-outer",
        "of gossip: all neighbours at once (default), one, or in groups (see the README)");
    add("round", "K", "of gossip whose peers change: one round alone, from 0 (default: the mean over all)");
    add("placement", "ORDER", "of ranks on devices: packed (default), round-robin, random, or [device, ...] by rank");
    add("contributors", "N", "of allgather and allreduce: only the first N ranks have something to give");
    add("receivers", "N", "of allgather and allreduce: only the first N ranks want the result");
    add("servers", "N", "servers of parameter-server, a slice of the buffer each (default 1)");
    add("bytes", "SIZE", "the buffer's size on every rank, with its unit: 100MB, 4B, 64MiB (required without --sweep)");
    add("sweep", "bytes=RANGE",
        "in place of --bytes: sizes one after the other, bytes=4B..512MiB, bytes=4B..1MB*4 or bytes=1MB,2MB");
    add("fidelity", "message|folded|auto",
        "simulate every message (default), or what repeats once for all (folded), or that above 1,000,000 messages");
    verb->add_option("--set", options->assignments, "change a key: platform.fabric.latency='5 us'; last wins")
        ->option_text("KEY.PATH=VALUE ...")
        ->allow_extra_args(false);
    verb->add_flag("--dry-run", options->dry, "simulate nothing: say which algorithm would run, and why");
    add_seed(*verb, options->seed);
    add_format(*verb, options->format);
    add_out(*verb, options->directory, "also write collective.json, .csv and .txt into DIR");
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
