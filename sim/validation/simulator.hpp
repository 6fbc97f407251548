#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

/// Simulations side by side, each in a process of its own, and none of them twice.
namespace syncline::validation {

/// What is asked of a simulation.
struct Question {
    std::string scenario;  ///< resolved
    std::string field;     ///< a number of its result, above zero: see number_of()
    std::string name;      ///< of what is simulated, for messages
};

class Simulator {
public:
    /// `watch` is called with how many simulations have ended.
    Simulator(std::size_t jobs, std::function<void(std::size_t)> watch) : jobs_(jobs), watch_(std::move(watch)) {}

    /// In the order of the questions; what is random has seed 1. Throws ReplayError with the name of one that failed.
    std::vector<double> answers(const std::vector<Question>& questions);
    std::size_t simulations() const { return answers_.size(); }

private:
    using Key = std::pair<std::string, std::string>;  ///< scenario and field

    std::size_t jobs_;
    std::function<void(std::size_t)> watch_;
    std::map<Key, double> answers_;
};

}  // namespace syncline::validation
