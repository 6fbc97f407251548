#include "sim/collective/factories.hpp"

/// Van de Geijn's broadcast: a scatter over the binomial tree, then an allgather around the ring.
///
/// Time ⌈lg N⌉α + (N-1)/N·S·β + (N-1)(α + S/N·β), about 2S·β for large buffers, for any N. A rank enters the ring when
/// its part of the scatter is done, but the root is among the last, and no rank can overtake it. There is no closed
/// form if N does not divide S, as for the scatter. N-1 + N(N-1) messages; a rank receives its blocks of the scatter
/// twice, as in MPICH. If α travels, the scatter has ⌊lg N⌋α. Source: M. Barnett, L. Shuler, R. van de Geijn et al.,
/// "Interprocessor collective communication library (InterCom)", SHPCC 1994; R. Thakur, R. Rabenseifner, W. Gropp,
/// "Optimization of collective communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
namespace syncline {

namespace {

class ScatterAllgather : public CollectiveAlgorithm {
public:
    ScatterAllgather(const AlgorithmSpec& spec, std::uint32_t ranks)
        : scatter_(algorithms::binomial_scatter(spec, ranks)), allgather_(algorithms::ring_allgather(spec, ranks)) {}

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override {
        Program program = scatter_->program(rank, ranks, bytes, round);
        for (Step& step : allgather_->program(rank, ranks, bytes, round).steps)
            program.steps.push_back(std::move(step));
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const auto scatter_s = scatter_->cost(ranks, bytes, message);
        if (!scatter_s) return {};
        return *scatter_s + *allgather_->cost(ranks, bytes, message);
    }

    std::string formula(bool travels) const override {
        return travels ? "(⌊lg N⌋ + N-1)α + 2(N-1)/N·Sβ" : "(⌈lg N⌉ + N-1)α + 2(N-1)/N·Sβ";
    }

private:
    std::shared_ptr<const CollectiveAlgorithm> scatter_, allgather_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::scatter_allgather(const AlgorithmSpec& spec,
                                                                         std::uint32_t ranks) {
    return std::make_shared<ScatterAllgather>(spec, ranks);
}

}  // namespace syncline
