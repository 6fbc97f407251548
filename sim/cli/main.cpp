#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/version.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/output/written_files.hpp"

namespace {

using namespace syncline;

/// Reports an unknown first argument with a suggestion; CLI11 would only say that a verb is required.
bool report_unknown_verb(const CLI::App& program, const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.front().starts_with('-')) return false;
    const std::string& given = arguments.front();
    std::vector<std::string> verbs{"help"};
    for (const CLI::App* verb : program.get_subcommands({})) verbs.push_back(verb->get_name());
    if (std::find(verbs.begin(), verbs.end(), given) != verbs.end()) return false;
    say("error: unknown verb '{}'\n  hint: {}\n", given,
        did_you_mean(given, verbs, fmt::format("the verbs are {}", fmt::join(verbs, ", "))));
    return true;
}

/// What `syncline` alone says.
constexpr const char* examples =
    R"(Syncline predicts the time of a distributed training iteration, and explains it.

  # Compare the variants of a scenario
  syncline run zhang-2021
  # Find the fastest plans for a model, with days and cost
  syncline plan llama-3-70b --platform dgx-h100 --ranks 512 --tokens 2T
  # Say what limits an iteration
  syncline explain zhang-2021 --variant parameter-server
  # Time an exchange at many sizes
  syncline collective --platform dgx-h100 --ranks 16 --sweep bytes=1MB..1GB
  # Learn by predicting
  syncline lesson 1

`syncline --help` lists all verbs.
)";

/// Returns the arguments, `VERB --help` in place of `help VERB`, whose options do not matter.
std::vector<std::string> arguments_of(int argc, char* argv[]) {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    if (arguments.empty() || arguments.front() != "help") return arguments;
    arguments.erase(arguments.begin());
    std::erase_if(arguments, [](const std::string& argument) { return argument.starts_with('-'); });
    arguments.emplace_back("--help");
    return arguments;
}

int parse_and_run(std::vector<std::string> arguments) {
    if (arguments.empty()) {
        say("{}", examples);
        return cli::usage;
    }
    CLI::App program("Syncline predicts the time of a distributed training iteration on a cluster, and explains it.",
                     "syncline");
    program.set_version_flag("--version", std::string("syncline ") + version, "Print the version and exit");
    program.require_subcommand(1);
    cli::describe_keys(program);
    program.footer(
        "`syncline help VERB` describes a verb and its options.\n\nExit codes: 0 success, 1 a simulation or a check "
        "failed, 2 usage error, 3 invalid configuration, 4 input or "
        "output error, 70 internal error, 130 interrupted.");
    cli::Action action;
    cli::add_run(program, action);
    cli::add_plan(program, action);
    cli::add_collective(program, action);
    cli::add_topology(program, action);
    cli::add_workload(program, action);
    cli::add_import(program, action);
    cli::add_check(program, action);
    cli::add_batch(program, action);
    cli::add_explore(program, action);
    cli::add_explain(program, action);
    cli::add_export(program, action);
    cli::add_results(program, action);
    cli::add_plot(program, action);
    cli::add_lesson(program, action);
    cli::add_serve(program, action);
    cli::add_validate(program, action);
    cli::add_calibrate(program, action);
    cli::add_list(program, action);
    cli::add_where(program, action);
    cli::add_schema(program, action);
    cli::add_completion(program, action);
    if (report_unknown_verb(program, arguments)) return cli::usage;
    try {
        std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the end
        program.parse(std::move(arguments));
    } catch (const CLI::ExtrasError&) {
        say("{}", cli::unexpected(program));
        return cli::usage;
    } catch (const CLI::ParseError& error) {
        std::ostringstream help, message;
        const int status = program.exit(error, help, message);
        if (!help.str().empty()) write_stdout(help.str());
        say("{}", message.str());
        return status == 0 ? cli::ok : cli::usage;
    }
    action();
    return cli::ok;
}

}  // namespace

/// Catches signals before anything else is initialised.
[[gnu::constructor(101)]] static void catch_early() {
    catch_interrupts();
}

int main(int argc, char* argv[]) {
    // If a standard descriptor is closed at the start, one of our pipes could get its number. /dev/null takes its
    // place; writing to it fails, as it should.
    for (const int descriptor : {0, 1, 2}) {
        if (fcntl(descriptor, F_GETFD) < 0) open("/dev/null", O_RDONLY);
    }
    return cli::guarded([&] { return parse_and_run(arguments_of(argc, argv)); });
}
