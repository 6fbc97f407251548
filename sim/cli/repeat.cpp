#include "sim/cli/repeat.hpp"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/replay_error.hpp"
#include "sim/batch/simulation.hpp"

#include "sim/cli/progress.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/output/written_files.hpp"
#include "sim/process/pool.hpp"
#include "sim/validation/simulations.hpp"

namespace syncline::cli {

namespace {

/// Simulates jobs that share a platform with several seeds, in processes of their own.
class JobRepetitions {
public:
    JobRepetitions(const config::Scenario& scenario, std::uint64_t seed, const Repeating& how)
        : scenario_(scenario), seed_(seed), how_(how), pool_(how.jobs, std::nullopt) {}

    void run(Report& report, bool allow_oom) {
        ProgressLine line("repetitions");
        constexpr double for_ever_s = 3600;
        // Of variant v the repetition number i, from 1, has the name "v i".
        std::vector<std::vector<std::vector<double>>> answers(report.results.size());
        std::vector<std::pair<std::size_t, std::size_t>> left;
        for (std::size_t v = report.results.size(); v-- > 0;) {
            answers[v].resize(how_.times);
            const Result& first = report.results[v];
            answers[v].front() = {first.time.iteration_s, first.jobs->makespan_s, first.jobs->mean_slowdown()};
            const bool draws = scenario_.variants[v].jobs->draws();
            if (!draws) say("note: {}: nothing is random, so it is simulated only once\n", scenario_.variants[v].name);
            for (std::size_t i = how_.times; --i > 0;)
                if (draws)
                    left.emplace_back(v, i);
                else
                    answers[v][i] = answers[v].front();
        }
        for (std::size_t done = 0; !left.empty() || !pool_.idle();) {
            while (!left.empty() && !pool_.full()) {
                const auto [v, i] = left.back();
                left.pop_back();
                pool_.start(fmt::format("{} {}", v, i), [this, v = v, i = i, allow_oom] {
                    const Json result = batch::simulate_run(scenario_.variants[v].resolved,
                                                            validation::repeated_seed(seed_, i), allow_oom);
                    return fmt::format("{} {} {}", result.at("iteration_time_s").get<double>(),
                                       result.at("makespan_s").get<double>(), result.at("mean_slowdown").get<double>());
                });
            }
            for (const Ended& ended : pool_.ended(for_ever_s)) {
                std::istringstream id(ended.id), text(ended.text);
                std::size_t v = 0, i = 0;
                id >> v >> i;
                if (!ended.done)
                    throw ReplayError(fmt::format("{}, repetition {}: {}", scenario_.variants[v].name, i, ended.text));
                answers[v][i].resize(3);
                for (double& value : answers[v][i]) text >> value;
                line.count(++done);
            }
        }
        for (std::size_t v = 0; v < answers.size(); ++v) {
            const auto spread = [&](std::size_t field) {
                std::vector<double> values;
                for (const std::vector<double>& one : answers[v]) values.push_back(one[field]);
                return spread_of(std::move(values));
            };
            report.results[v].repeated = spread(0);
            report.results[v].jobs->makespans_s = spread(1);
            report.results[v].jobs->slowdowns = spread(2);
        }
    }

private:
    const config::Scenario& scenario_;
    const std::uint64_t seed_;
    const Repeating& how_;
    Pool pool_;
};

}  // namespace

CLI::Option* add_repeat(CLI::App& verb, std::size_t& times, const char* what) {
    return verb.add_option("--repeat", times, what)->option_text("N")->check(whole_number(1, 100'000));
}

void repeat(const config::Scenario& scenario, Report& report, std::uint64_t seed, const Repeating& how,
            bool allow_oom) {
    if (scenario.variants.front().jobs) return JobRepetitions(scenario, seed, how).run(report, allow_oom);
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
