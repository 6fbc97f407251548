#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sim/analysis/experiment.hpp"

/// Progress of a running simulation on standard error: on a terminal a progress line, once the simulation has taken
/// more than two seconds; with `timing` the wall-clock time until the first message and in total.
namespace syncline::cli {

class ProgressLine {
public:
    explicit ProgressLine(std::string what, bool timing = false);
    /// Erases the line; with `timing`, writes the total time.
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Returns the callback for simulate(); empty if there is nothing to show, which saves counting messages.
    Watch watch();

private:
    using Clock = std::chrono::steady_clock;
    double elapsed_s() const;
    void show(const Progress& progress, std::uint64_t expected);

    std::string what_;
    bool terminal_;
    bool timing_;
    bool started_ = false;
    Clock::time_point start_ = Clock::now();
    double next_s_ = 0;
};

}  // namespace syncline::cli
