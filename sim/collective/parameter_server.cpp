#include "sim/collective/parameter_server.hpp"

#include <algorithm>

namespace syncline {

double parameter_server_cost(const std::string& operation, std::uint32_t workers, std::uint32_t servers,
                             std::uint64_t bytes, const MessageCost& message) {
    if (workers == 1) return 0;
    const std::uint64_t slice = bytes / servers, remainder = bytes % servers;
    // All slices are sent at the same rate until the smaller ones are done; then one byte of each larger slice remains.
    const double together = static_cast<double>(slice) * std::max(workers, servers);
    const double rest = remainder == 0 ? 0 : static_cast<double>(std::max<std::uint64_t>(workers, remainder));
    const double phase = message.alpha_s + (together + rest) * message.beta_s_per_B;
    const double at_server = static_cast<double>(Partition{bytes, servers}.largest()) * workers;
    const double push = phase + at_server * message.gamma_s_per_B;
    if (operation == "push") return push;
    return operation == "pull" ? phase : push + phase;
}

}  // namespace syncline
