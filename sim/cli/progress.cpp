#include "sim/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>

#include "sim/cli/terminal.hpp"
#include "sim/output/columns.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

using Clock = std::chrono::steady_clock;
const auto program_start = Clock::now();

double since_start_s() {
    return std::chrono::duration<double>(Clock::now() - program_start).count();
}

/// The state of a simulation, in a process of its own, for the process that draws.
struct Shared {
    std::atomic<std::uint64_t> messages = 0, expected = 0;
    std::atomic<std::uint64_t> first = 0;  ///< messages when the simulation was first seen
    std::atomic<double> first_s = 0;       ///< the time of that, since the program's start
    std::atomic<double> timed_s = 0;       ///< the previous line of say_timing()
};

Shared& shared() {
    static Shared* const page = [] {
        void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
        return new (memory) Shared;
    }();
    return *page;
}

/// The line that the timer draws.
struct Line {
    std::array<char, 200> step{};
    Clock::time_point start;
    std::size_t width = 0;
    bool terminal = true;
    std::atomic<std::uint64_t> simulations = 0;
    std::atomic<std::uint64_t> done = 0, total = 0;  ///< of the step; total: 0 if unknown
    std::atomic<double> step_s = 0;                  ///< its begin, since the program's start
    std::atomic<bool> drawn = false;
};
Line current_line;

/// Draws the line. The handler of a signal must not allocate, which formatting into an array does not.
void draw(int) {
    const int before = errno;
    const double elapsed_s = std::chrono::duration<double>(Clock::now() - current_line.start).count();
    const auto messages = static_cast<double>(shared().messages.load());
    const auto expected = static_cast<double>(shared().expected.load());
    const double since_first = messages - static_cast<double>(shared().first.load());
    const std::uint64_t simulations = current_line.simulations;
    const std::string_view step = current_line.step.data();
    std::array<char, 400> text;
    std::size_t length = 0;
    if (since_first > 0 && messages < expected)
        length =
            fmt::format_to_n(text.data(), text.size(), "{}: {:.0f} %, {:.0f} of {:.0f} messages, about {:.0f} s left",
                             step, 100 * messages / expected, messages, expected,
                             (since_start_s() - shared().first_s) * (expected - messages) / since_first)
                .size;
    else if (const std::uint64_t total = current_line.total, done = current_line.done; done > 0 && done <= total)
        length =
            fmt::format_to_n(
                text.data(), text.size(), "{}: {} of {}, {:.0f} s, about {:.0f} s left", step, done, total, elapsed_s,
                (since_start_s() - current_line.step_s) * static_cast<double>(total - done) / static_cast<double>(done))
                .size;
    else if (simulations > 0)
        length =
            fmt::format_to_n(text.data(), text.size(), "{}: {} simulations, {:.0f} s", step, simulations, elapsed_s)
                .size;
    else
        length = fmt::format_to_n(text.data(), text.size(), "{}: {:.0f} s", step, elapsed_s).size;
    length = std::min({length, text.size(), current_line.width});
    std::array<char, 410> whole;
    const std::string_view shown(text.data(), length);
    const auto last = current_line.terminal ? fmt::format_to_n(whole.data(), whole.size(), "\r{}\x1b[K", shown)
                                            : fmt::format_to_n(whole.data(), whole.size(), "{}\n", shown);
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, whole.data(), static_cast<std::size_t>(last.out - whole.data()));
    current_line.drawn = current_line.terminal;
    errno = before;
}

/// Draws a line from the first second on; a new one every ten seconds if it is no terminal's.
void set_timer(bool on) {
    constexpr timeval never{0, 0}, soon{1, 0}, fluent{0, 200'000}, seldom{10, 0};
    itimerval timer{never, never};
    if (on) timer = current_line.terminal ? itimerval{fluent, soon} : itimerval{seldom, seldom};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

ProgressLine::ProgressLine(const std::string& step, bool timing, Elsewhere elsewhere)
    : step_(step),
      terminal_(isatty(STDERR_FILENO) == 1),
      shown_(terminal_ || elsewhere == Elsewhere::lines),
      timing_(timing) {
    shared();
    if (!shown_) return;
    struct sigaction action {};
    action.sa_handler = draw;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    current_line.start = Clock::now();
    current_line.terminal = terminal_;
    constexpr std::size_t wide = 300;
    current_line.width = terminal_ ? width_of(STDERR_FILENO) - 1 : wide;
    begin(step);
    set_timer(true);
}

ProgressLine::~ProgressLine() {
    shared().messages = shared().expected = 0;
    if (!shown_) return;
    set_timer(false);
    current_line.simulations = current_line.done = current_line.total = 0;
    if (current_line.drawn.exchange(false)) redraw("");
}

void ProgressLine::begin(const std::string& step) {
    step_ = step;
    if (!shown_) return;
    current_line.done = current_line.total = 0;
    current_line.step_s = since_start_s();
    const std::string shown = text::broken(printable(step), current_line.width / 2).front();
    sigset_t alarm, before;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, &before);
    current_line.step = {};
    shown.copy(current_line.step.data(), current_line.step.size() - 1);
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

void ProgressLine::count(std::size_t simulations) {
    current_line.simulations = simulations;
}

void ProgressLine::count(std::uint64_t done, std::uint64_t total) {
    current_line.done = done;
    current_line.total = total;
}

Watch ProgressLine::watch() {
    if (!terminal_ && !timing_) return {};
    return [this](const Progress& progress, std::uint64_t expected) {
        // The simulation has a process of its own, which does not draw.
        const std::uint64_t before = shared().expected.exchange(expected);
        if (timing_ && before == 0) say_timing(step_ + ": first message");
        if (expected != before || progress.messages < shared().messages) {  // another simulation
            shared().first = progress.messages;
            shared().first_s = since_start_s();
        }
        shared().messages = progress.messages;
    };
}

void say_timing(const std::string& what) {
    const double now_s = since_start_s();
    say("timing: {:.3f} s: {} ({:.3f} s)\n", now_s, what, now_s - shared().timed_s.exchange(now_s));
}

}  // namespace syncline::cli
