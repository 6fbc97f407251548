#pragma once

#include "sim/collective/algorithm.hpp"

/// Shift: every one of N ranks sends its buffer of S bytes to the next rank and receives that of the previous one, the
/// step of which rings consist. Time α + Sβ, N·S bytes.
namespace syncline {

class Shift : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, 1}, {}};
        if (ranks < 2) return program;
        Step step;
        step.sends.push_back({(rank + 1) % ranks});
        step.receives.push_back({(rank + ranks - 1) % ranks});
        program.steps.push_back(std::move(step));
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (ranks < 2) return 0;
        return message.alpha_s + static_cast<double>(bytes) * message.beta_s_per_B;
    }

    std::string formula(bool) const override { return "α + Sβ"; }
};

}  // namespace syncline
