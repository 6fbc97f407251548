#include "sim/cli/repeat.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/cli/progress.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/output/written_files.hpp"
#include "sim/validation/simulations.hpp"

namespace syncline::cli {

CLI::Option* add_repeat(CLI::App& verb, std::size_t& times, const char* what) {
    return verb.add_option("--repeat", times, what)->option_text("N")->check(whole_number(1, 100'000));
}

void repeat(const config::Scenario& scenario, Report& report, std::uint64_t seed, const Repeating& how,
            bool allow_oom) {
    ProgressLine line("repetitions");
    validation::Simulator simulator(how.jobs, [&](std::size_t simulations) { line.count(simulations); });
    std::vector<validation::RowRun> questions;
    for (const config::Variant& variant : scenario.variants) {
        if (!variant.plan.draws()) {
            say("note: {}: nothing is random, so it is simulated only once\n", variant.name);
            continue;
        }
        for (std::size_t i = 1; i < how.times; ++i)
            questions.push_back({variant.resolved, "iteration_time_s",
                                 fmt::format("{}, repetition {}", variant.name, i), validation::repeated_seed(seed, i),
                                 allow_oom, false});
    }
    const std::vector<double> answers = simulator.answers(questions);
    std::size_t next = 0;
    for (std::size_t i = 0; i < report.results.size(); ++i) {
        Result& result = report.results[i];
        std::vector<double> times_s{result.time.iteration_s};
        if (scenario.variants[i].plan.draws())
            while (times_s.size() < how.times) times_s.push_back(answers[next++]);
        result.repeated = spread_of(std::move(times_s));
    }
}

}  // namespace syncline::cli
