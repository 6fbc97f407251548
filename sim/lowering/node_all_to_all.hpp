#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/collective/algorithm.hpp"

/// All-to-all of tokens that go once to every node that needs them, and there to the ranks that need them, as DeepEP
/// exchanges them (deepseek-ai/DeepEP, csrc/kernels/internode.cu; docs/legacy.md).
///
/// N nodes have g consecutive members each, and every member S bytes of tokens, of which another node needs the part q,
/// and a member of a node the part p ≤ q. Member i of a node sends q·S to member i of each other node, one node after
/// the other; that one passes p·S on to each of its g-1 neighbours while the next q·S arrive. `together`, the way back,
/// is the same in reverse: members add up what neighbours return before it leaves the node.
///
///     leaves a rank      (N-1)·q·S between nodes, N·(g-1)·p·S inside
///     time               (N-1)·(α + (q + (g-1)p)·S·β) + (α + (g-1)p·S·β), on one switch; the last term if g > 1
///
/// Left out: chunks smaller than what one rank has for one node; the multiprocessors that forward tokens, unless
/// Transport::exchange_multiprocessors says so.
namespace syncline {

class NodeAllToAll : public CollectiveAlgorithm {
public:
    enum class Direction { apart, together };

    NodeAllToAll(std::uint32_t node_ranks, double node_part, double rank_part, Direction direction)
        : node_ranks_(node_ranks), node_(blocks(node_part)), rank_(blocks(rank_part)), direction_(direction) {}

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, units}, {}};
        const std::uint32_t nodes = ranks / node_ranks_, node = rank / node_ranks_, own = rank % node_ranks_;
        const auto member = [&](std::uint32_t of_node, std::uint32_t number) {
            return of_node % nodes * node_ranks_ + number;
        };
        for (std::uint32_t step = 0; step < nodes; ++step) {
            Step now;
            if (step + 1 < nodes) {
                now.sends.push_back({.peer = member(node + step + 1, own), .count = node_});
                now.receives.push_back({.peer = member(node + nodes - step - 1, own), .count = node_});
            }
            for (std::uint32_t distance = 1; distance < node_ranks_; ++distance) {
                const std::uint32_t to = (own + distance) % node_ranks_;
                const std::uint32_t from = (own + node_ranks_ - distance) % node_ranks_;
                now.sends.push_back({.peer = member(node, to), .count = rank_});
                now.receives.push_back({.peer = member(node, from), .count = rank_});
            }
            if (!now.sends.empty()) program.steps.push_back(std::move(now));
        }
        if (direction_ == Direction::apart) return program;
        std::reverse(program.steps.begin(), program.steps.end());
        for (Step& step : program.steps) {
            std::swap(step.sends, step.receives);
            step.reduce = true;
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const double block_B = static_cast<double>(bytes) / units;
        const double gamma = direction_ == Direction::together ? message.gamma_s_per_B : 0;
        const auto step_s = [&](double count) {
            return message.alpha_s + count * block_B * (message.beta_s_per_B + gamma);
        };
        const double inside = (node_ranks_ - 1.0) * rank_, nodes = ranks / node_ranks_;
        return (nodes - 1) * step_s(node_ + inside) + (node_ranks_ > 1 ? step_s(inside) : 0);
    }

    std::string formula(bool) const override { return "(N-1)(α + (q + (g-1)p)·S·β) + α + (g-1)p·S·β"; }

private:
    static constexpr std::uint32_t units = 1 << 24;

    static std::uint32_t blocks(double part) { return static_cast<std::uint32_t>(std::lround(part * units)); }

    std::uint32_t node_ranks_;
    std::uint32_t node_, rank_;  ///< blocks for another node, and for a member of a node
    Direction direction_;
};

}  // namespace syncline
