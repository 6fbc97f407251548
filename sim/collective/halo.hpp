#pragma once

#include <algorithm>

#include "sim/collective/algorithm.hpp"

/// Halo exchange: neighbours in a row of N ranks send each other the edges of their parts, S bytes each, before a
/// convolution in domain parallelism: α + min(2, N-1)·S·β on full-duplex links. A. Gholami et al. (SPAA 2018) count α +
/// S·β, one edge.
namespace syncline {

class Halo : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, 1}, {}};
        if (ranks < 2) return program;
        Step step;
        if (rank > 0) step.sends.push_back({rank - 1});
        if (rank + 1 < ranks) step.sends.push_back({rank + 1});
        step.receives = step.sends;
        program.steps.push_back(std::move(step));
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (ranks < 2) return 0;
        return message.alpha_s +
               static_cast<double>(std::min(2U, ranks - 1)) * static_cast<double>(bytes) * message.beta_s_per_B;
    }

    std::string formula(bool) const override { return "α + min(2, N-1)Sβ"; }
};

}  // namespace syncline
