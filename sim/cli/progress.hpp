#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sim/analysis/experiment.hpp"

/// What standard error says of a simulation under way: on a terminal a line that shows how far it is, once it has taken
/// more than two seconds; with `timing` how long it took, wall clock, until its first message and in all.
namespace syncline::cli {

class ProgressLine {
public:
    explicit ProgressLine(std::string what, bool timing = false);
    /// Wipes the line; says how long it took.
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// To be handed to simulate(); empty where there is nothing to show, so that nothing is counted for nobody.
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
