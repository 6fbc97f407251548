#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/analysis/estimate.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/presets.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "sim/explain/task_names.hpp"
#include "sim/iteration/graph_trace.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/trace_graph.hpp"
#include "sim/output/written_files.hpp"
#include "sim/replay/native.hpp"

namespace syncline::cli {

namespace {

struct ExportArguments {
    std::string scenario, format, out;
    std::vector<std::string> assignments, only;
};

/// Returns a trace in which each rank takes part in the operation and does nothing else.
ExecutionTrace trace_of(const CollectivePlan& plan) {
    ExecutionTrace trace;
    trace.ranks = static_cast<std::uint32_t>(plan.ranks);
    trace.names = trace.operations = {plan.algorithm.operation};
    trace.groups.emplace_back();
    for (std::uint32_t rank = 0; rank < trace.ranks; ++rank) {
        trace.groups.front().push_back(rank);
        trace.add({.kind = NodeKind::collective, .rank = rank, .stream = 0, .bytes = plan.bytes}, {});
    }
    return trace;
}

/// Throws ConfigError if the trace would be too large: a message is a node at both its ends.
void check_size(const config::Variant& variant, const Lowered& training) {
    constexpr double most_nodes = 2e7;
    Plan once = training.plan;
    once.fidelity = Fidelity::message;
    once.iterations = 1;
    const double nodes = 2 * estimate(lower(training.cluster, training.model, once)).messages;
    if (nodes > most_nodes)
        throw ConfigError(
            {{variant.training,
              fmt::format("its trace would have about {:.3g} million nodes, and at most {:.3g} million are "
                          "written",
                          nodes / 1e6, most_nodes / 1e6),
              "use fewer ranks, or fewer microbatches"}});
}

/// Adds notes about what a trace does not say, because it has the planned times of one iteration on sound parts.
void note_left_out(ExecutionTrace& trace, const Lowered& training) {
    if (training.documents_vary()) trace.notes.push_back("microbatches whose documents differ have their mean time");
    if (training.plan.noise.any()) trace.notes.push_back("jitter and stragglers are left out");
    if (const std::size_t faults = training.cluster.faults.size(); faults > 0)
        trace.notes.push_back(faults > 1 ? fmt::format("faults of the platform are left out ({})", faults)
                                         : "faults of the platform are left out");
}

ExecutionTrace trace_of(const config::Variant& variant) {
    if (variant.trace) return *variant.trace->trace;
    if (variant.collective) return trace_of(*variant.collective);
    if (variant.jobs)
        throw ConfigError({{variant.training, "jobs that share a platform cannot be exported together",
                            "write a scenario with one of the jobs"}});
    const Lowered& training = variant.lowered();
    check_size(variant, training);
    const TaskGraph graph = build_iteration(training);
    ExecutionTrace trace = syncline::trace_of(graph, TaskNames(training).of(graph));
    note_left_out(trace, training);
    return trace;
}

/// Notes what other programs that replay the file run one after the other, and a simulation here does not.
void note_lost_overlap(const ExecutionTrace& trace, const std::string& format) {
    std::map<std::uint32_t, std::uint32_t> streams;  // by rank: a stream that computes
    bool several = false;
    for (const TraceNode& node : trace.nodes())
        if (node.kind == NodeKind::compute || node.kind == NodeKind::host || node.kind == NodeKind::copy)
            several = streams.try_emplace(node.rank, node.stream).first->second != node.stream || several;
    if (format == "simgrid-ti" && !streams.empty())
        say("note: actions of a rank follow one another in '{}': computation and messages that overlap here may take "
            "longer there\n",
            format);
    if (format == "goal" && several)
        say("note: what ranks compute at the same time, as copies beside kernels, is on several processors (`cpu`); "
            "programs that have one for each rank run it one after the other\n");
}

void export_trace(const ExportArguments& options) {
    const config::Scenario scenario =
        config::load_scenario(options.scenario, options.assignments, inspect, 1, options.only);
    if (scenario.variants.size() > 1) {
        std::vector<std::string> names;
        for (const config::Variant& variant : scenario.variants) names.push_back(variant.name);
        throw ConfigError({{{options.scenario, 1, 1, ""},
                            fmt::format("the scenario has {} variants", names.size()),
                            fmt::format("choose one with `--variant`: {}", fmt::join(names, ", "))}});
    }
    const config::Variant& variant = scenario.variants.front();
    if (variant.open.everything)
        throw ConfigError({{variant.training, "the plan of `parallelism: auto` has to be found first",
                            "write the plan that `syncline run` finds"}});
    try {
        const ExecutionTrace trace = trace_of(variant);
        const std::vector<std::string> files = write_trace(
            trace, options.format, options.out, [](const auto& name, const auto& bytes) { write_file(name, bytes); });
        for (const std::string& note : trace.notes) say("note: {}\n", note);
        note_lost_overlap(trace, options.format);
        say("wrote {}{}: {} nodes of {} rank{}\n", files.front(),
            files.size() > 1 ? fmt::format(" and {} more", files.size() - 1) : "", trace.size(), trace.ranks,
            trace.ranks == 1 ? "" : "s");
    } catch (const TraceError& error) {
        throw ConfigError(
            {{variant.training, error.what(),
              "an iteration can be a trace if its ranks wait for each other by messages alone, as with an "
              "all-reduce"}});
    }
}

}  // namespace

void add_export(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "export", "syncline export zhang-2021 --variant ring --as chakra --out ring",
                              "Write what an iteration does as an execution trace that other programs replay");
    const auto options = std::make_shared<ExportArguments>();
    verb->add_option("SCENARIO", options->scenario, "Scenario file, or the name of one in scenarios/")->required();
    verb->add_option("--as", options->format,
                     "Format: Chakra's, GOAL (LogGOPSim, ATLAHS), or SimGrid's time-independent traces")
        ->option_text(fmt::format("{}", fmt::join(written_trace_formats(), "|")))
        ->required()
        ->check(one_of(written_trace_formats()));
    verb->add_option("--out", options->out,
                     "Output file; of formats with a file for each rank, the part of their names before the rank")
        ->option_text("PATH")
        ->required()
        ->check(not_empty);
    add_set(*verb, options->assignments, "Set a key; later values override earlier ones");
    add_variant(*verb, options->only);
    verb->callback([options, &action] {
        action = [options] {
            options->scenario = config::find_argument(options->scenario, {"scenario", "measured"});
            export_trace(*options);
        };
    });
}

}  // namespace syncline::cli
