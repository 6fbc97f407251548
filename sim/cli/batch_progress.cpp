#include "sim/cli/batch_progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "sim/cli/terminal.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

constexpr double redrawn_every_s = 0.2, line_every_s = 10;
constexpr double lately_s = 30;

/// Formats a duration as "1:02:03" or "2:03".
std::string clock(double seconds) {
    const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
    const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
    const std::string rest = fmt::format(":{:02}", whole % 60);
    return hours > 0 ? fmt::format("{}:{:02}{}", hours, minutes, rest) : fmt::format("{}{}", minutes, rest);
}

std::int64_t ended(const batch::BatchProgress& progress) {
    return progress.done + progress.failed;
}

/// Returns the end of both line and bar: ", 12.3 points/s, 0:42 left, 3 failed".
std::string state(const batch::BatchProgress& progress, double rate) {
    std::string text;
    if (rate > 0) {
        const auto left = static_cast<double>(progress.total - ended(progress));
        text += fmt::format(", {:.3g} points/s, {} left", rate, clock(left / rate));
    }
    if (progress.failed > 0) text += fmt::format(", {} failed", progress.failed);
    return text;
}

}  // namespace

BatchProgressLine::BatchProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

BatchProgressLine::~BatchProgressLine() {
    if (terminal_)
        redraw("");
    else if (last_.total > 0)
        write_line(last_);
}

void BatchProgressLine::show(const batch::BatchProgress& progress) {
    if (lately_.empty() || ended(progress) > lately_.back().ended)
        lately_.push_back({progress.elapsed_s, ended(progress)});
    while (lately_.size() > 2 && lately_[1].at_s < progress.elapsed_s - lately_s) lately_.pop_front();
    last_ = progress;
    if (shown_s_ > 0 && progress.elapsed_s < shown_s_ + (terminal_ ? redrawn_every_s : line_every_s)) return;
    if (!terminal_ && progress.elapsed_s < line_every_s) return;
    shown_s_ = progress.elapsed_s;
    terminal_ ? draw(progress) : write_line(progress);
}

double BatchProgressLine::rate() const {
    if (lately_.size() < 2) return 0;
    const double seconds = std::max(last_.elapsed_s, lately_.back().at_s) - lately_.front().at_s;
    return seconds > 0 ? static_cast<double>(lately_.back().ended - lately_.front().ended) / seconds : 0;
}

void BatchProgressLine::write_line(const batch::BatchProgress& progress) const {
    say("{} of {} points{}\n", ended(progress), progress.total, state(progress, rate()));
}

void BatchProgressLine::draw(const batch::BatchProgress& progress) const {
    constexpr std::size_t widest = 40, narrowest = 10;
    const std::size_t width = width_of(STDERR_FILENO) - 1;
    std::string text = fmt::format(" {}/{}{}", ended(progress), progress.total, state(progress, rate()));
    text.resize(std::min(text.size(), width));
    const std::size_t room = std::min(width - text.size(), widest + 2);
    if (room >= narrowest) {
        const auto part =
            static_cast<double>(ended(progress)) / static_cast<double>(std::max<std::int64_t>(progress.total, 1));
        const auto full = static_cast<std::size_t>(part * static_cast<double>(room - 2));
        text = fmt::format("[{:#<{}}{:.<{}}]{}", "", full, "", room - 2 - full, text);
    }
    redraw(text);
}

}  // namespace syncline::cli
