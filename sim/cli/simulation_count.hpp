#pragma once

#include <chrono>
#include <cstddef>
#include <string>

/// What standard error says of many simulations whose number nobody knows before: on a terminal a line with how many
/// have ended, once they have taken more than two seconds; elsewhere nothing.
namespace syncline::cli {

class SimulationCount {
public:
    SimulationCount();
    /// Wipes the line.
    ~SimulationCount();
    SimulationCount(const SimulationCount&) = delete;
    SimulationCount& operator=(const SimulationCount&) = delete;

    /// From now on they are for this.
    void begin(const std::string& what) { what_ = what; }
    void show(std::size_t simulations);

private:
    using Clock = std::chrono::steady_clock;

    std::string what_;
    bool terminal_;
    bool drawn_ = false;
    Clock::time_point next_;
};

}  // namespace syncline::cli
