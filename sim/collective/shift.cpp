#include "sim/collective/shift.hpp"

namespace syncline {

Program Shift::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, 1}, {}};
    if (ranks < 2) return program;
    Step step;
    step.sends.push_back({(rank + 1) % ranks});
    step.receives.push_back({(rank + ranks - 1) % ranks});
    program.steps.push_back(std::move(step));
    return program;
}

std::optional<double> Shift::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    if (ranks < 2) return 0;
    return message.alpha_s + static_cast<double>(bytes) * message.beta_s_per_B;
}

}  // namespace syncline
