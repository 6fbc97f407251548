#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/analysis/experiment.hpp"

/// Progress of long steps on standard error.
namespace syncline::cli {

/// One line on a terminal, from the first second on: the step, the time since the line began, and how many messages or
/// simulations are finished. Elsewhere nothing, or such a line every ten seconds. A timer draws it. Only one may exist
/// at a time.
class ProgressLine {
public:
    /// What is shown if standard error is no terminal.
    enum class Elsewhere { nothing, lines };

    /// With `timing`, the first message is reported as by say_timing().
    explicit ProgressLine(const std::string& step, bool timing = false, Elsewhere elsewhere = Elsewhere::nothing);
    ProgressLine(const std::string& step, Elsewhere elsewhere) : ProgressLine(step, false, elsewhere) {}
    /// Erases the line.
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Changes the name of the step.
    void begin(const std::string& step);
    /// Shows the number of finished simulations, whose total is unknown.
    void count(std::size_t simulations);
    /// Shows how much of the step is done, of how much at the most, and the time that remains.
    void count(std::uint64_t done, std::uint64_t total);

    /// Returns the callback for simulate(); empty if there is nothing to show, which saves counting messages.
    /// The line must outlive it.
    Watch watch();

private:
    std::string step_;
    bool terminal_;
    bool shown_;
    bool timing_;
};

/// Returns the result of `work`, a step that may be long.
template <class Work>
auto shown_as(const std::string& step, const Work& work) {
    const ProgressLine line(step);
    return work();
}

/// Writes "timing: 0.141 s: WHAT (0.106 s)": the time since the program's start, and since the previous such line, so
/// that the times in brackets add up to the total.
void say_timing(const std::string& what);

}  // namespace syncline::cli
