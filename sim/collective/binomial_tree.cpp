#include "sim/collective/binomial_tree.hpp"

#include <bit>

namespace syncline {

Program BinomialTree::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, 1}, {}};
    if (ranks == 1) return program;
    const std::uint32_t lowest = rank == 0 ? std::bit_ceil(ranks) : rank & (~rank + 1);
    const auto has_child = [&](std::uint32_t distance) { return ranks - rank > distance; };
    if (operation_ != TreeOperation::broadcast) {
        for (std::uint32_t distance = 1; distance < lowest; distance *= 2)
            if (has_child(distance)) program.steps.push_back({{}, {{rank + distance, 0}}, true});
        if (rank != 0) program.steps.push_back({{{rank - lowest, 0}}, {}});
    }
    if (operation_ != TreeOperation::reduce) {
        if (rank != 0) program.steps.push_back({{}, {{rank - lowest, 0}}});
        for (std::uint32_t distance = lowest / 2; distance > 0; distance /= 2)
            if (has_child(distance)) program.steps.push_back({{{rank + distance, 0}}, {}});
    }
    return program;
}

std::optional<double> BinomialTree::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    return tree_cost(operation_, std::bit_width(ranks - 1), static_cast<double>(bytes), message);
}

}  // namespace syncline
