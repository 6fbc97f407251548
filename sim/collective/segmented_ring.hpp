#pragma once

#include "sim/collective/algorithm.hpp"

/// Segmented ring all-reduce: the ring's reduce-scatter in phases, each with one segment of every block, then the
/// allgather of whole blocks.
///
/// Each of the N blocks is cut into m segments, as few as keep each within the given size; a phase is a ring
/// reduce-scatter of N-1 steps. (m + 1)·N(N-1) messages, 2(N-1)·S bytes. With s = ⌈S/(N·m)⌉ and c = ⌈S/N⌉ the time is
/// (N-1)(m(α + s·β + s·γ) + α + c·β): segments save memory, and time only if α is small compared with the overlapped
/// part. There is no closed form if m > 1 and N·m does not divide S, because not every segment is a longest one then.
/// Source: Open MPI, coll_base_allreduce.c, ompi_coll_base_allreduce_intra_ring_segmented, which has the same (m +
/// 1)(N-1) steps.
///
/// Left out: in Open MPI a rank receives the next segment while it adds the last one, which hides γ if it is less than
/// β. Open MPI also rounds m, so that segments may be half as long again, and buffers of less than a segment per rank
/// use the plain ring, which is m = 1 here.
namespace syncline {

class SegmentedRing : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: one segment, the plain ring.
    explicit SegmentedRing(double segment_bytes) : segment_bytes_(segment_bytes) {}
    /// Throws AlgorithmError on key "segment" if there are too many segments.
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "(N-1)(m(α + ⌈S/Nm⌉β + ⌈S/Nm⌉γ) + α + ⌈S/N⌉β)"; }

private:
    double segment_bytes_;
};

}  // namespace syncline
