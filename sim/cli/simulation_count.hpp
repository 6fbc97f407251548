#pragma once

#include <chrono>
#include <cstddef>
#include <string>

/// Progress of simulations whose total number is unknown, on standard error: on a terminal a line with the number of
/// finished simulations, once they have taken more than two seconds; elsewhere nothing.
namespace syncline::cli {

class SimulationCount {
public:
    SimulationCount();
    /// Erases the line.
    ~SimulationCount();
    SimulationCount(const SimulationCount&) = delete;
    SimulationCount& operator=(const SimulationCount&) = delete;

    /// Sets the name shown before the count.
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
