#include "sim/collective/halo.hpp"

#include <algorithm>

namespace syncline {

Program Halo::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, 1}, {}};
    if (ranks < 2) return program;
    Step step;
    if (rank > 0) step.sends.push_back({rank - 1});
    if (rank + 1 < ranks) step.sends.push_back({rank + 1});
    step.receives = step.sends;
    program.steps.push_back(std::move(step));
    return program;
}

std::optional<double> Halo::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    if (ranks < 2) return 0;
    return message.alpha_s +
           static_cast<double>(std::min(2U, ranks - 1)) * static_cast<double>(bytes) * message.beta_s_per_B;
}

}  // namespace syncline
