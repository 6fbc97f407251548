#include "sim/cli/progress.hpp"
#include "sim/output/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace syncline::cli {

namespace {

const auto program_start = std::chrono::steady_clock::now();

double since_start_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - program_start).count();
}

constexpr double first_shown_s = 2;
constexpr double shown_every_s = 0.2;

}  // namespace

ProgressLine::ProgressLine(std::string what, bool timing)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1), timing_(timing) {}

ProgressLine::~ProgressLine() {
    // The simulation draws from its own process: only the elapsed time tells here whether it has drawn.
    if (terminal_ && elapsed_s() > first_shown_s) redraw("");
    if (timing_) say("timing: {}: done after {:.3f} s\n", what_, elapsed_s());
}

Watch ProgressLine::watch() {
    if (!terminal_ && !timing_) return {};
    return [this](const Progress& progress, std::uint64_t expected) { show(progress, expected); };
}

double ProgressLine::elapsed_s() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

void ProgressLine::show(const Progress& progress, std::uint64_t expected) {
    const double now_s = elapsed_s();
    if (timing_ && !started_)
        say("timing: {}: first message {:.3f} s after the program's start\n", what_, since_start_s());
    started_ = true;
    if (!terminal_ || now_s < std::max(next_s_, first_shown_s) || expected == 0) return;
    next_s_ = now_s + shown_every_s;
    const double part = static_cast<double>(progress.messages) / static_cast<double>(expected);
    redraw(fmt::format("{}: {:.0f} %, {} of {} messages, about {:.0f} s left", what_, 100 * part, progress.messages,
                       expected, now_s * (1 - part) / part));
}

}  // namespace syncline::cli
