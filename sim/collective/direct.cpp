#include "sim/collective/direct.hpp"

#include "sim/collective/factories.hpp"

namespace syncline {

Program Direct::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    if (ranks == 1) return program;
    // Every rank begins with the next rank, so that no rank is the first destination of all.
    Step apart, together;
    for (std::uint32_t distance = 1; distance < ranks; ++distance) {
        const std::uint32_t to = (rank + distance) % ranks, from = (rank + ranks - distance) % ranks;
        apart.sends.push_back({to, to});
        apart.receives.push_back({from, rank});
        together.sends.push_back({to, rank});
        together.receives.push_back({from, from});
    }
    apart.reduce = reduces();
    if (operation_ != Operation::allgather) program.steps.push_back(std::move(apart));
    if (gathers()) program.steps.push_back(std::move(together));
    return program;
}

std::optional<double> Direct::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    if (ranks == 1) return 0;
    const auto at_rank = (ranks - 1) * static_cast<double>(Partition{bytes, ranks}.largest());
    const double step = message.alpha_s + at_rank * message.beta_s_per_B;
    return (operation_ == Operation::allreduce ? 2 * step : step) + (reduces() ? at_rank * message.gamma_s_per_B : 0);
}

std::string Direct::formula(bool) const {
    switch (operation_) {
        case Operation::reduce_scatter:
            return "α + (N-1)⌈S/N⌉(β + γ)";
        case Operation::allreduce:
            return "2α + (N-1)⌈S/N⌉(2β + γ)";
        default:
            return "α + (N-1)⌈S/N⌉β";
    }
}

Program DirectRooted::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, whole() ? 1 : ranks}, {}};
    if (ranks == 1) return program;
    std::vector<Message> messages;
    if (rank != 0) {
        messages.push_back({0, whole() ? 0 : rank});
    } else {
        for (std::uint32_t peer = 1; peer < ranks; ++peer) messages.push_back({peer, whole() ? 0 : peer});
    }
    Step step;
    ((rank == 0) == inwards() ? step.receives : step.sends) = std::move(messages);
    step.reduce = operation_ == Operation::reduce;
    program.steps.push_back(std::move(step));
    return program;
}

std::optional<double> DirectRooted::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    if (ranks == 1) return 0;
    const auto size = static_cast<double>(bytes);
    const double at_root = whole() ? (ranks - 1) * size : size - static_cast<double>(bytes / ranks);
    const double gamma = operation_ == Operation::reduce ? message.gamma_s_per_B : 0;
    return message.alpha_s + at_root * (message.beta_s_per_B + gamma);
}

std::string DirectRooted::formula(bool) const {
    if (operation_ == Operation::reduce) return "α + (N-1)S(β + γ)";
    return whole() ? "α + (N-1)Sβ" : "α + (S-⌊S/N⌋)β";
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::direct(const AlgorithmSpec& spec, std::uint32_t) {
    const std::string& operation = spec.operation;
    if (operation == "all-to-all") return std::make_shared<Direct>(Direct::Operation::all_to_all);
    if (operation == "reduce-scatter") return std::make_shared<Direct>(Direct::Operation::reduce_scatter);
    if (operation == "allgather") return std::make_shared<Direct>(Direct::Operation::allgather);
    if (operation == "scatter") return std::make_shared<DirectRooted>(DirectRooted::Operation::scatter);
    if (operation == "gather") return std::make_shared<DirectRooted>(DirectRooted::Operation::gather);
    if (operation == "broadcast") return std::make_shared<DirectRooted>(DirectRooted::Operation::broadcast);
    if (operation == "reduce") return std::make_shared<DirectRooted>(DirectRooted::Operation::reduce);
    if (operation == "allreduce") return std::make_shared<Direct>(Direct::Operation::allreduce);
    throw std::logic_error("there is no direct algorithm for " + operation);
}

}  // namespace syncline
