#include <bit>

#include "sim/collective/factories.hpp"
#include "sim/collective/tree_steps.hpp"

/// Binomial tree: a rank's parent has the same number without its lowest set bit.
///
/// In a broadcast every rank that has the buffer sends it on in every step, the root first to the rank half of all
/// places away, then to the rank at a quarter, and so on: ⌈lg N⌉(α + S·β), for any N. A reduction is the same
/// backwards, with the nearest rank first: ⌈lg N⌉(α + S·β + S·γ). N - 1 messages of S bytes each way; an all-reduce is
/// a reduction and then a broadcast. Rank 1 is the last to be served and the first to send for any N, so ranks that are
/// missing from a full tree change nothing.
///
/// If α travels, rank r gets the buffer after as many α as its number has bits set, and the last step is still in time
/// for all: ⌈lg N⌉S·β + ⌊lg N⌋α, because with N ≠ 2^k no number of ⌈lg N⌉ bits is all ones. In a reduction the last
/// message of the root arrives while it adds the one before, if N ≠ 2^k: ⌊lg N⌋(α + S·β + S·γ), and max(S·β, S·γ) more.
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective
/// communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
namespace syncline {

namespace {

class BinomialTree : public CollectiveAlgorithm {
public:
    explicit BinomialTree(TreeOperation operation) : operation_(operation) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
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

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const auto size = static_cast<double>(bytes);
        if (!message.travels || std::has_single_bit(ranks))
            return tree_cost(operation_, std::bit_width(ranks - 1), size, message);
        const double more_s = size * message.beta_s_per_B;
        const double down = operation_ == TreeOperation::reduce ? 0 : more_s;
        const double up = operation_ == TreeOperation::broadcast ? 0 : std::max(more_s, size * message.gamma_s_per_B);
        return tree_cost(operation_, std::bit_width(ranks) - 1, size, message) + up + down;
    }

    std::string formula(bool travels) const override {
        if (!travels) return tree_formula(operation_, "⌈lg N⌉", "S");
        const char* more = operation_ == TreeOperation::broadcast ? "Sβ"
                           : operation_ == TreeOperation::reduce  ? "max(Sβ, Sγ)"
                                                                  : "Sβ + max(Sβ, Sγ)";
        return tree_formula(operation_, "⌊lg N⌋", "S") + ", and " + more + " more unless N is a power of two";
    }

private:
    TreeOperation operation_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::binomial_tree(const AlgorithmSpec& spec, std::uint32_t) {
    return std::make_shared<BinomialTree>(tree_operation(spec));
}

}  // namespace syncline
