#include <fmt/format.h>

#include <memory>

#include "sim/base/diagnostics.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/output/topology_output.hpp"
#include "sim/output/written_files.hpp"
#include "sim/platform/cluster_picture.hpp"
#include "sim/topology/formats.hpp"

namespace syncline::cli {

namespace {

struct TopologyArguments {
    std::string argument;
    std::vector<std::string> assignments;
    std::string use = "fabric", format = "table", file;
    bool expand = false;
};

std::string dot_of(const config::TopologyQuestion& question) {
    try {
        return to_dot(question.topology);
    } catch (const TopologyError& error) {
        throw ConfigError({{Location{question.spec.name, 1, 1, ""}, error.what(), error.hint}});
    }
}

std::string text_of(const config::TopologyQuestion& question, Use use, const TopologyArguments& options) {
    const std::string& format = options.format;
    if (format == "dot") return dot_of(question);
    if (format == "graphml") return to_graphml(question.topology);
    if (format == "svg" && question.cluster && use == Use::fabric && !options.expand)
        return cluster_svg(*question.cluster);
    if (format == "svg")
        return to_svg(question.spec, question.topology, CableStyle::by_kind,
                      options.expand ? Detail::all : Detail::aggregated);
    const TopologyReport report{question.spec.name, question.spec.shape, use,
                                measure_topology(question.spec, question.topology)};
    return format == "json" ? to_json(report) : to_table(report);
}

void topology(const TopologyArguments& options) {
    const Use use = options.use == "fabric" ? Use::fabric : Use::overlay;
    const config::TopologyQuestion question = shown_as("building " + options.argument, [&] {
        return config::load_topology(options.argument, options.assignments, use);
    });
    if (!question.added.empty()) say("note: `{}` alone means --set '{}'\n", options.argument, question.added);
    if (const std::int64_t wanted = question.spec.hosts; wanted > 0 && question.topology.hosts > wanted)
        say("note: the {} has {} hosts: the next size that has room for {}\n", question.spec.name,
            question.topology.hosts, wanted);
    const std::string text =
        shown_as("measuring " + question.spec.name, [&] { return text_of(question, use, options); });
    if (!options.file.empty())
        write_file(options.file, text);
    else if (options.format == "dot")
        write_data(text);
    else
        write_stdout(text);
}

}  // namespace

void add_topology(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "topology", "syncline topology torus --set hosts=64", "Measure, draw or convert a topology");
    const auto options = std::make_shared<TopologyArguments>();
    verb->add_option("SHAPE|FILE|NAME", options->argument,
                     "Shape (star, ring, tree, torus, …; 16 hosts by default), file (topology, GraphML, DOT or "
                     "platform), or the "
                     "name of a file in topologies/ or platforms/ (tree-4to1); a shape takes precedence over a file of "
                     "the same name")
        ->required();
    add_repeated(*verb, "--set", options->assignments, "KEY=VALUE",
                 "Set a key of the topology: hosts=64; later values override earlier ones");
    const auto add_word = [verb](const char* name, std::string& word, std::vector<std::string> words,
                                 const char* description) {
        verb->add_option(name, word, description)
            ->option_text(fmt::format("{}", fmt::join(words, "|")))
            ->check(one_of(std::move(words)));
    };
    add_word("--as", options->use, {"fabric", "overlay"},
             "Use as a fabric, the cables between hosts (default), or as an overlay, the communication pattern of "
             "ranks");
    add_word("--format", options->format, {"table", "json", "dot", "svg", "graphml"}, "Output format (default: table)");
    verb->add_flag(
        "--expand", options->expand,
        "Draw every host, switch and cable (default: above 128 hosts or switches, blocks of them, and of a platform "
        "one node with what it is connected to; with --format svg)");
    verb->add_option("--out", options->file, "Output file (default: standard output)")
        ->option_text("FILE")
        ->check(not_empty);
    verb->callback([options, &action] {
        if (options->expand && options->format != "svg")
            throw CLI::ValidationError("--expand", "has no effect without --format svg; remove it");
        action = [options] { topology(*options); };
    });
}

}  // namespace syncline::cli
