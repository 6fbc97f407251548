#include "sim/collective/scatter_allgather.hpp"

#include "sim/collective/binomial_scatter.hpp"
#include "sim/collective/ring.hpp"

namespace syncline {

Program ScatterAllgather::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                                  std::uint32_t round) const {
    Program program = BinomialScatter().program(rank, ranks, bytes, round);
    go_round(program, ring_of(rank, ranks), rank, false);
    return program;
}

std::optional<double> ScatterAllgather::cost(std::uint32_t ranks, std::uint64_t bytes,
                                             const MessageCost& message) const {
    const auto scatter_s = BinomialScatter().cost(ranks, bytes, message);
    if (!scatter_s) return {};
    return *scatter_s + *RingAllgather(ranks).cost(ranks, bytes, message);
}

}  // namespace syncline
