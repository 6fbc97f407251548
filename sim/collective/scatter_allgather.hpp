#pragma once

#include "sim/collective/algorithm.hpp"

/// Van de Geijn's broadcast: a scatter over the binomial tree, then an allgather around the ring.
///
/// Time ⌈lg N⌉α + (N-1)/N·S·β + (N-1)(α + S/N·β), about 2S·β for large buffers, for any N. A rank enters the ring when
/// its part of the scatter is done, but the root is among the last, and no rank can overtake it. There is no closed
/// form if N does not divide S, as for the scatter. N-1 + N(N-1) messages; a rank receives its blocks of the scatter
/// twice, as in MPICH. Source: M. Barnett, L. Shuler, R. van de Geijn et al., "Interprocessor collective communication
/// library (InterCom)", SHPCC 1994; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
/// operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
namespace syncline {

class ScatterAllgather : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "(⌈lg N⌉ + N-1)α + 2(N-1)/N·Sβ"; }
};

}  // namespace syncline
