#include "sim/collective/factories.hpp"

/// All-to-all in pairs: in step k = 1 … N-1 every rank sends the rank k places on its block, and receives its own from
/// the rank k places before.
///
/// N(N-1) messages, (N-1)·S bytes in all, like `direct`, but with one message at a time on every link: MPI libraries
/// use it for large blocks, and it is faster to simulate than N-1 concurrent messages. Blocks are numbered as in
/// direct.hpp. Time (N-1)(α + S/N·β). There is no closed form if N does not divide S: a rank that receives a largest
/// block receives one in every step, but the part of α that its senders spend before they send may pass while it is
/// still busy with the block before. Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective
/// communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66; MPICH pairs ranks by
/// exclusive or if N is a power of two, here the same shifts are used for any N.
namespace syncline {

namespace {

class PairwiseAllToAll : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, ranks}, {}};
        if (ranks == 1) return program;
        const std::uint32_t to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
        const Message send{.peer = to, .block = to, .shift = 1, .turn = 1};  // peer and block move on together
        const Message receive{.peer = from, .block = rank, .turn = -1};
        program.steps.push_back({{send}, {receive}, false, ranks - 1});
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (bytes % ranks != 0) return {};
        return (ranks - 1.0) * (message.alpha_s + static_cast<double>(bytes / ranks) * message.beta_s_per_B);
    }

    std::string formula(bool) const override { return "(N-1)(α + S/N·β)"; }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::pairwise(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<PairwiseAllToAll>();
}

}  // namespace syncline
