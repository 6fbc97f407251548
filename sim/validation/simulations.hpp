#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/interrupt.hpp"
#include "sim/process/pool.hpp"

/// Runs simulations concurrently, each in its own process, and none of them twice.
namespace syncline::validation {

/// The number that is wanted from a simulation.
struct RowRun {
    std::string scenario;  ///< resolved
    std::string field;     ///< a field of its result: see number_of()
    std::string name;      ///< the name of the simulation in messages
    std::uint64_t seed = 1;
    bool allow_oom = false;  ///< simulate also what does not fit into the devices' memory
    bool positive = true;    ///< the number must be above zero
};

/// Returns the seed of a simulation's repetition `number`: for 0 the seed itself, for others one that SplitMix64
/// derives from it, since XXH3 adds seeds to the counters of the draws (pace.hpp), of which neighbours share many.
std::uint64_t repeated_seed(std::uint64_t seed, std::uint64_t number);

/// A signal ended the work.
struct Stopped {};

/// What takes the time of a simulated row.
struct Cause {
    std::string limited_by;         ///< as in results; empty: unknown
    std::optional<double> exposed;  ///< share of an iteration in exchanges that no computation overlaps
};

/// What a simulation ended with.
struct Answer {
    std::optional<double> value = {};
    Cause cause = {};
    std::string failure =
        {};  ///< without a value: the simulation's name and the reason, the signal that ended it for one
};

class Simulator {
public:
    /// `watch` is called with the number of simulations that have ended. After a signal that is `held`, whoever waits
    /// for answers gets a Stopped.
    Simulator(std::size_t jobs, std::function<void(std::size_t)> watch, const HeldInterrupts* held = nullptr)
        : pool_(jobs, std::nullopt), watch_(std::move(watch)), held_(held) {}

    /// Returns the answers in the order of the questions. Throws ReplayError with the name of the first simulation that
    /// failed, in their order.
    std::vector<double> answers(const std::vector<RowRun>& questions);
    /// Returns the answers in the order of the questions when all simulations have ended, also those after one that
    /// failed.
    std::vector<Answer> all_answers(const std::vector<RowRun>& questions);
    std::size_t simulations() const { return answered_; }

    /// Runs work(0), …, work(count - 1), each in a turn of its own: while one waits for its answers, the others ask. Of
    /// those that throw, the first one's exception is thrown. `ended` is called with the number that have ended.
    void by_turns(std::size_t count, const std::function<void(std::size_t)>& work,
                  const std::function<void(std::size_t)>& ended);

private:
    using Key = std::tuple<std::string, std::string, std::uint64_t>;  ///< scenario, field and seed
    struct Simulation {
        RowRun question;
        bool begun = false;
        std::optional<double> answer = {};
        Cause cause = {};
        std::optional<std::string> failure = {};
    };
    struct Asked {
        std::vector<Simulation*> simulations;  ///< in the order of the questions
        bool all;                              ///< also those after one that failed
    };

    /// Returns the simulations, when all have ended, or those before one that failed unless `all` are wanted.
    std::vector<Simulation*> ended(const std::vector<RowRun>& questions, bool all);
    static bool settled(const Asked& asked);
    /// Returns a simulation to begin; null if there is none.
    Simulation* next();
    /// Begins simulations, and waits until some have ended.
    void serve();

    Pool pool_;
    std::function<void(std::size_t)> watch_;
    const HeldInterrupts* held_;
    std::map<Key, Simulation> simulations_;
    std::size_t begun_ = 0, answered_ = 0;
    std::list<Asked> asked_;                      ///< by those who wait
    std::map<std::string, Simulation*> running_;  ///< by the work's name
};

}  // namespace syncline::validation
