#include <csignal>

#include "tests/cli/batch.hpp"

// If the program is killed, so are the processes that simulate for it, whatever they do.

using namespace syncline::test;

namespace {

/// Returns the process that works in a directory and is a child of this one; 0 if there is none.
pid_t program_in(const fs::path& directory) {
    for (const pid_t child : children_of(getpid())) {
        std::error_code gone;
        if (fs::read_symlink("/proc/" + std::to_string(child) + "/cwd", gone) == fs::canonical(directory)) return child;
    }
    return 0;
}

/// Runs the program, kills it when processes simulate for it, and returns how many there were.
std::size_t killed(const fs::path& directory, const std::vector<std::string>& arguments, Outcome& outcome) {
    Invocation invocation{.arguments = arguments, .directory = directory};
    auto running = std::async(std::launch::async, [&] { return run_program(invocation); });
    std::size_t workers = 0;
    while (workers == 0 && running.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
        const pid_t program = program_in(directory);
        if (program == 0) continue;
        workers = children_of(program).size();
        if (workers > 0) kill(program, SIGKILL);
    }
    outcome = running.get();
    return workers;
}

}  // namespace

TEST_CASE("killed: no process goes on simulating for a program that was killed") {
    TempDir bench;
    std::string text{long_scenario};
    for (std::size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, SYNCLINE_SOURCE_DIR);
    const std::string measured =
        "measured:\n  source: nobody\n  series: [{rows: [{value: 1, calibrates: true}]}]\n"
        "  parameters: [{key: platform.fabric.bandwidth, unit: Gbps, least: 1, most: 100}]\n";
    bench.write("long.yaml", text + measured);
    bench.write("study.yaml", "base: long.yaml\naxes: {training.batch_per_rank: [32, 64]}\n");
    for (const std::vector<std::string>& verb :
         {std::vector<std::string>{"run", "long.yaml"},
          {"explain", "long.yaml"},
          {"validate", "long.yaml"},
          {"calibrate", "long.yaml"},
          {"batch", "study.yaml", "--out", "batch"},
          {"explore", "study.yaml", "--out", "explore", "--objective", "iteration_time_s"}}) {
        Outcome outcome;
        CAPTURE(verb);
        CHECK(killed(bench.path(), verb, outcome) > 0);
        CAPTURE(outcome.err);
        CHECK(outcome.status == 128 + SIGKILL);
        CHECK_FALSE(someone_is_in(bench.path()));
    }
}
