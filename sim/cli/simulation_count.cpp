#include "sim/cli/simulation_count.hpp"

#include <unistd.h>

#include "sim/output/files.hpp"

namespace syncline::cli {

namespace {

using namespace std::chrono_literals;
constexpr auto first_shown_after = 2s;
constexpr auto shown_every = 200ms;

}  // namespace

SimulationCount::SimulationCount() : terminal_(isatty(STDERR_FILENO) == 1), next_(Clock::now() + first_shown_after) {}

SimulationCount::~SimulationCount() {
    if (drawn_) redraw("");
}

void SimulationCount::show(std::size_t simulations) {
    if (!terminal_ || Clock::now() < next_) return;
    next_ = Clock::now() + shown_every;
    drawn_ = true;
    redraw(fmt::format("{}: {} simulations", what_, simulations));
}

}  // namespace syncline::cli
