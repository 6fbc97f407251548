#include <memory>

#include "sim/analysis/experiment.hpp"
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
};

void collective(const Options& options) {
    config::CollectiveQuestion question = config::load_collective(options.arguments, options.assignments, inspect);
    question.plan.placement.seed = options.seed;
    ProgressLine progress(question.plan.algorithm.name);
    const CollectiveResult result = simulate_collective(question.cluster, question.plan, progress.watch());
    write_result(result, options.format, options.directory, "collective");
}

}  // namespace

void add_collective(CLI::App& program, Action& action) {
    CLI::App* verb = program.add_subcommand("collective", "Replay one exchange alone, without computation");
    const auto options = std::make_shared<Options>();
    // Values stay text here: the field tables check them, with the same messages as for files.
    const auto add = [&](const std::string& key, const std::string& placeholder, const std::string& description) {
        return verb
            ->add_option_function<std::string>(
                "--" + key,
                [options, key](const std::string& value) {
                    options->arguments.push_back({key, value});
                },
                description)
            ->option_text(placeholder);
    };
    add("platform", "FILE", "the platform file (required)")->required();
    add("ranks", "N", "how many ranks take part (required)")->required();
    add("operation", "NAME", "allreduce (default), broadcast, reduce, all-to-all or neighbour-exchange");
    add("algorithm", "NAME",
        "of allreduce: ring (default), recursive-doubling, binomial-tree, pipelined-tree, double-binary-tree, "
        "hierarchical, hierarchical-leaders or "
        "parameter-server; of broadcast and reduce: the three trees; of all-to-all: direct; of neighbour-exchange: "
        "gossip");
    add("overlay", "TOPOLOGY", "who exchanges with whom, in trees, hierarchies and gossip: a name, a file, or {keys}");
    add("segment", "SIZE",
        "of pipelined-tree and double-binary-tree: the buffer travels in pieces of at most so many bytes");
    add("peers", "all|one", "of gossip: all neighbours at once (default), or one");
    add("placement", "ORDER", "of ranks on devices: packed (default), round-robin, random, or [device, ...] by rank");
    add("servers", "N", "servers of parameter-server, a slice of the buffer each (default 1)");
    add("bytes", "SIZE", "the buffer's size on every rank, with its unit: 100MB, 4B, 64MiB (required)")->required();
    verb->add_option("--set", options->assignments, "change a key: platform.fabric.latency='5 us'; last wins")
        ->option_text("KEY.PATH=VALUE ...")
        ->allow_extra_args(false);
    add_seed(*verb, options->seed);
    add_format(*verb, options->format);
    verb->add_option("--out", options->directory, "also write collective.json, .csv and .txt into DIR")
        ->option_text("DIR")
        ->check([](const std::string& directory) { return directory.empty() ? "is empty" : ""; });
    verb->callback([options, &action] { action = [options] { collective(*options); }; });
}

}  // namespace syncline::cli
