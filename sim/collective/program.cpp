#include "sim/collective/program.hpp"

namespace syncline {

std::uint64_t messages_sent(const Program& program) {
    std::uint64_t messages = 0;
    for (const Step& step : program.steps) messages += step.sends.size() * std::uint64_t{step.repeat};
    return messages;
}

}  // namespace syncline
