#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

/// Runs simulations concurrently, each in its own process, and none of them twice.
namespace syncline::validation {

/// The number that is wanted from a simulation.
struct RowRun {
    std::string scenario;  ///< resolved
    std::string field;     ///< a field of its result, with a number above zero: see number_of()
    std::string name;      ///< the name of the simulation in messages
};

class Simulator {
public:
    /// `watch` is called with the number of simulations that have ended.
    Simulator(std::size_t jobs, std::function<void(std::size_t)> watch) : jobs_(jobs), watch_(std::move(watch)) {}

    /// Returns the answers in the order of the questions; the random seed is 1. Throws ReplayError with the name of a
    /// simulation that failed.
    std::vector<double> answers(const std::vector<RowRun>& questions);
    std::size_t simulations() const { return answers_.size(); }

private:
    using Key = std::pair<std::string, std::string>;  ///< scenario and field

    std::size_t jobs_;
    std::function<void(std::size_t)> watch_;
    std::map<Key, double> answers_;
};

}  // namespace syncline::validation
