#include <bit>

#include "sim/collective/factories.hpp"

/// Dissemination barrier: in step k every rank tells the rank 2^k places on that it has arrived, and so have all ranks
/// that it has heard of.
///
/// After ⌈lg N⌉ steps every rank has heard of all others, for any N. Messages are empty, whatever the buffer: N·⌈lg N⌉
/// messages, ⌈lg N⌉α. Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", Int. J.
/// Parallel Program. 17 (1988) 1-17.
namespace syncline {

namespace {

class Dissemination : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t, std::uint32_t) const override {
        Program program{{0, 1}, {}};
        for (std::uint32_t distance = 1; distance < ranks; distance *= 2)
            program.steps.push_back({{{(rank + distance) % ranks, 0}}, {{(rank + ranks - distance) % ranks, 0}}});
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t, const MessageCost& message) const override {
        return std::bit_width(ranks - 1) * message.alpha_s;
    }

    std::string formula(bool) const override { return "⌈lg N⌉α"; }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::dissemination(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<Dissemination>();
}

}  // namespace syncline
