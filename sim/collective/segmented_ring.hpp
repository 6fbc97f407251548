#pragma once

#include "sim/collective/algorithm.hpp"

/// Segmented ring all-reduce: the ring's reduce-scatter in phases, each with one segment of every block, then the
/// allgather of whole blocks.
///
/// Each of the N blocks is cut into m segments, as few as keep each within the size asked for; a phase is a ring
/// reduce-scatter of N-1 steps. (m + 1)·N(N-1) messages, 2(N-1)·S bytes. With s = ⌈S/(N·m)⌉ and c = ⌈S/N⌉ the time is
/// (N-1)(m(α + s·β + s·γ) + α + c·β): segments save memory, and time only where α is small beside what overlaps.
/// No closed form where m > 1 and N·m does not divide S: not every segment is a longest one then. Source: Open MPI,
/// coll_base_allreduce.c, ompi_coll_base_allreduce_intra_ring_segmented, whose (m + 1) (N-1) steps these are.
///
/// Left out: a rank there receives the next segment while it adds the last one, which hides γ where it is less than β.
/// There also m is rounded, so that segments may be half as long again, and buffers of less than a segment per rank
/// take the plain ring, what m = 1 is here.
namespace syncline {

class SegmentedRing : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: one segment, the plain ring.
    explicit SegmentedRing(double segment_bytes) : segment_bytes_(segment_bytes) {}
    /// Throws AlgorithmError on key "segment" if there are too many.
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "(N-1)(m(α + ⌈S/Nm⌉β + ⌈S/Nm⌉γ) + α + ⌈S/N⌉β)"; }

private:
    double segment_bytes_;
};

}  // namespace syncline
