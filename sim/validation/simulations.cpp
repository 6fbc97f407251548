#include "sim/validation/simulations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "sim/base/number.hpp"
#include "sim/base/split_mix.hpp"
#include "sim/batch/simulation.hpp"
#include "sim/output/expected_fields.hpp"
#include "sim/process/turn.hpp"
#include "sim/replay/replay.hpp"

namespace syncline::validation {

namespace {

constexpr double for_ever_s = 3600;

/// Returns the lines in which a simulating process says the cause of its result.
std::string cause_lines(const Json& result) {
    const auto points = result.find("points");
    const Json& one = points != result.end() && !points->empty() ? points->front() : result;
    const Json limited = one.value("limited_by", Json()), exposed = one.value("exposed_communication_time_s", Json()),
               whole = one.value("iteration_time_s", Json());
    const bool share = exposed.is_number() && whole.is_number() && whole.get<double>() > 0;
    return fmt::format("{}\n{}", share ? fmt::format("{}", exposed.get<double>() / whole.get<double>()) : "",
                       limited.is_string() ? limited.get<std::string>() : "");
}

Cause cause_in(const std::string& lines) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    Cause cause;
    cause.exposed = number_in<double>(std::string_view(lines).substr(0, end));
    cause.limited_by = lines.substr(std::min(end + 1, lines.size()));
    return cause;
}

/// Simulates in a separate process, which returns only the number and its cause.
std::string simulate(const RowRun& question) {
    const Json result = batch::simulate_run(question.scenario, question.seed, question.allow_oom);
    const std::optional<double> value = number_of(result, question.field);
    if (!value) throw ReplayError(fmt::format("its result has no '{}'", question.field));
    if (question.positive && *value <= 0)
        throw ReplayError(fmt::format("its '{}' is {}, but must be above zero, since errors are relative to it",
                                      question.field, *value));
    return fmt::format("{}\n{}", *value, cause_lines(result));
}

}  // namespace

std::uint64_t repeated_seed(std::uint64_t seed, std::uint64_t number) {
    return number == 0 ? seed : split_mix(seed + (number - 1) * split_mix_step);
}

bool Simulator::settled(const Asked& asked) {
    for (const Simulation* const one : asked.simulations) {
        if (one->failure && !asked.all) return true;
        if (!one->failure && !one->answer) return false;
    }
    return true;
}

Simulator::Simulation* Simulator::next() {
    Simulation* best = nullptr;
    std::size_t fewest = 0;
    // Those who wait for the fewest simulations come first: they are likely to ask again.
    for (const Asked& asked : asked_) {
        Simulation* first = nullptr;
        std::size_t left = 0;
        for (Simulation* const one : asked.simulations) {
            if (one->failure && !asked.all) break;
            if (one->begun) continue;
            if (!first) first = one;
            ++left;
        }
        if (!first || (best && left >= fewest)) continue;
        best = first;
        fewest = left;
    }
    return best;
}

void Simulator::serve() {
    while (!pool_.full()) {
        Simulation* const one = next();
        if (!one) break;
        const std::string name = std::to_string(++begun_);
        pool_.start(name, [one] { return simulate(one->question); });
        one->begun = true;
        running_[name] = one;
    }
    const std::vector<Ended> all = pool_.ended(for_ever_s, held_ != nullptr ? held_->descriptor() : -1);
    if (held_ != nullptr && held_->interrupted()) throw Stopped();
    for (const Ended& ended : all) {
        Simulation& one = *running_.extract(ended.id).mapped();
        if (!ended.done) {
            one.failure = ended.text;
            continue;
        }
        one.answer = std::strtod(ended.text.c_str(), nullptr);
        one.cause = cause_in(ended.text.substr(std::min(ended.text.find('\n'), ended.text.size() - 1) + 1));
        ++answered_;
        if (watch_) watch_(answered_);
    }
}

std::vector<Simulator::Simulation*> Simulator::ended(const std::vector<RowRun>& questions, bool all) {
    struct Asking {
        std::list<Asked>& all;
        std::list<Asked>::iterator own;
        ~Asking() { all.erase(own); }
    };
    Asked asked{{}, all};
    for (const RowRun& question : questions)
        asked.simulations.push_back(
            &simulations_.try_emplace({question.scenario, question.field, question.seed}, Simulation{question})
                 .first->second);
    const Asking asking{asked_, asked_.insert(asked_.end(), std::move(asked))};
    while (!settled(*asking.own)) {
        if (Turn* const turn = Turn::current())
            turn->pause();
        else
            serve();
    }
    return asking.own->simulations;
}

std::vector<double> Simulator::answers(const std::vector<RowRun>& questions) {
    std::vector<double> answers;
    for (const Simulation* const one : ended(questions, false)) {
        // Several rows may share the simulation.
        if (one->failure) throw ReplayError(fmt::format("{}: {}", questions[answers.size()].name, *one->failure));
        answers.push_back(*one->answer);
    }
    return answers;
}

std::vector<Answer> Simulator::all_answers(const std::vector<RowRun>& questions) {
    std::vector<Answer> answers;
    for (const Simulation* const one : ended(questions, true))
        answers.push_back({one->answer, one->cause,
                           one->failure ? fmt::format("{}: {}", questions[answers.size()].name, *one->failure) : ""});
    return answers;
}

void Simulator::by_turns(std::size_t count, const std::function<void(std::size_t)>& work,
                         const std::function<void(std::size_t)>& ended) {
    if (count == 1) return work(0);
    std::list<Turn> turns;
    for (std::size_t i = 0; i < count; ++i) turns.emplace_back([&work, i] { work(i); });
    for (bool waits = true; waits;) {
        std::size_t done = 0;
        waits = false;
        for (auto turn = turns.begin(); turn != turns.end(); ++turn) {
            if (!turn->ended()) turn->resume();
            if (turn->error()) turns.erase(std::next(turn), turns.end());
            waits = waits || !turn->ended();
            done += turn->ended();
        }
        ended(done);
        if (waits) serve();
    }
    if (!turns.empty() && turns.back().error()) std::rethrow_exception(turns.back().error());
}

}  // namespace syncline::validation
