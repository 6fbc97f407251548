#include "sim/validation/simulator.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <set>

#include "sim/batch/simulation.hpp"
#include "sim/output/check.hpp"
#include "sim/process/pool.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/replay.hpp"

namespace syncline::validation {

namespace {

constexpr double for_ever_s = 3600;

/// Simulates in a separate process, which returns only the number.
std::string simulate(const RowRun& question) {
    const std::optional<double> value =
        number_of(batch::simulate_run(question.scenario, question.seed, question.allow_oom), question.field);
    if (!value) throw ReplayError(fmt::format("its result has no '{}'", question.field));
    if (question.positive && *value <= 0)
        throw ReplayError(fmt::format("its '{}' is {}, but must be above zero, since errors are relative to it",
                                      question.field, *value));
    return fmt::format("{}", *value);
}

}  // namespace

std::uint64_t repeated_seed(std::uint64_t seed, std::uint64_t number) {
    if (number == 0) return seed;
    std::uint64_t bits = seed + number * 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    return bits ^ (bits >> 31);
}

std::vector<double> Simulator::answers(const std::vector<RowRun>& questions) {
    const auto key = [](const RowRun& question) { return Key{question.scenario, question.field, question.seed}; };
    std::vector<const RowRun*> waiting;
    std::set<Key> noted;
    for (const RowRun& question : questions)
        if (!answers_.contains(key(question)) && noted.insert(key(question)).second) waiting.push_back(&question);

    if (!waiting.empty()) engine();  // loaded once, for all processes
    Pool pool(jobs_, std::nullopt);
    // The first question that fails, in their order: those before it have begun by then, and may fail, too.
    std::size_t failed = waiting.size();
    std::string why;
    for (std::size_t next = 0; next < failed || !pool.idle();) {
        for (; next < failed && !pool.full(); ++next) {
            const RowRun& question = *waiting[next];
            pool.start(std::to_string(next), [&question] { return simulate(question); });
        }
        for (const Ended& ended : pool.ended(for_ever_s)) {
            const std::size_t number = std::stoul(ended.id);
            const RowRun& question = *waiting[number];
            if (!ended.done) {
                if (number >= failed) continue;
                failed = number;
                why = fmt::format("{}: {}", question.name, ended.text);
                continue;
            }
            answers_[key(question)] = std::strtod(ended.text.c_str(), nullptr);
            if (watch_) watch_(answers_.size());
        }
    }
    if (failed < waiting.size()) throw ReplayError(why);
    std::vector<double> answers;
    for (const RowRun& question : questions) answers.push_back(answers_.at(key(question)));
    return answers;
}

}  // namespace syncline::validation
