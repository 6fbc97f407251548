#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

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
/// derives from it (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). Seeds
/// that follow each other would not do: XXH3 adds them to the counters of the draws (pace.hpp), so that neighbouring
/// seeds share many draws.
std::uint64_t repeated_seed(std::uint64_t seed, std::uint64_t number);

class Simulator {
public:
    /// `watch` is called with the number of simulations that have ended.
    Simulator(std::size_t jobs, std::function<void(std::size_t)> watch) : jobs_(jobs), watch_(std::move(watch)) {}

    /// Returns the answers in the order of the questions. Throws ReplayError with the name of a
    /// simulation that failed.
    std::vector<double> answers(const std::vector<RowRun>& questions);
    std::size_t simulations() const { return answers_.size(); }

private:
    using Key = std::tuple<std::string, std::string, std::uint64_t>;  ///< scenario, field and seed

    std::size_t jobs_;
    std::function<void(std::size_t)> watch_;
    std::map<Key, double> answers_;
};

}  // namespace syncline::validation
