#include "sim/collective/parameter_server.hpp"

#include <algorithm>

namespace syncline {

namespace {

constexpr std::uint32_t server = 0;

/// One message between the server and each worker, into the server or out of it.
Program exchange_with_server(std::uint32_t member, std::uint32_t members, std::uint64_t bytes, bool inwards) {
    Program program{{bytes, 1}, {}};
    std::vector<Message> peers;
    if (member != server) {
        peers.push_back({server, 0});
    } else {
        for (std::uint32_t worker = 1; worker < members; ++worker) peers.push_back({worker, 0});
    }
    Step step;
    ((member == server) == inwards ? step.receives : step.sends) = std::move(peers);
    step.reduce = inwards;
    program.steps.push_back(std::move(step));
    return program;
}

}  // namespace

Program Push::program(std::uint32_t member, std::uint32_t members, std::uint64_t bytes, std::uint32_t) const {
    return exchange_with_server(member, members, bytes, true);
}

std::optional<double> Push::cost(std::uint32_t members, std::uint64_t bytes, const MessageCost& message) const {
    const double total = static_cast<double>(bytes) * (members - 1);
    return message.alpha_s + total * (message.beta_s_per_B + message.gamma_s_per_B);
}

Program Pull::program(std::uint32_t member, std::uint32_t members, std::uint64_t bytes, std::uint32_t) const {
    return exchange_with_server(member, members, bytes, false);
}

std::optional<double> Pull::cost(std::uint32_t members, std::uint64_t bytes, const MessageCost& message) const {
    return message.alpha_s + static_cast<double>(bytes) * (members - 1) * message.beta_s_per_B;
}

double parameter_server_cost(const std::string& operation, std::uint32_t workers, std::uint32_t servers,
                             std::uint64_t bytes, const MessageCost& message) {
    if (workers == 1) return 0;
    const std::uint64_t slice = bytes / servers, remainder = bytes % servers;
    // All slices run at the same rate until the smaller ones are through; the rest is one byte of each of the larger.
    const double together = static_cast<double>(slice) * std::max(workers, servers);
    const double rest = remainder == 0 ? 0 : static_cast<double>(std::max<std::uint64_t>(workers, remainder));
    const double phase = message.alpha_s + (together + rest) * message.beta_s_per_B;
    const double at_server = static_cast<double>(Partition{bytes, servers}.largest()) * workers;
    const double push = phase + at_server * message.gamma_s_per_B;
    if (operation == "push") return push;
    return operation == "pull" ? phase : push + phase;
}

}  // namespace syncline
