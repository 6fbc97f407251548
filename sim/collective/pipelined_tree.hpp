#pragma once

#include "sim/collective/algorithm.hpp"
#include "sim/collective/overlay.hpp"

/// All-reduce over a spanning tree: sums go up to rank 0, then the result comes down, both in segments.
///
/// The buffer is cut into m segments, as few as keep each within the size asked for. In every stage an inner rank
/// passes one segment on while it takes the next from its children and adds it. The result starts down when the root
/// has all of it. 2(N-1)·m messages, 2(N-1)·S bytes. The tree is the overlay's breadth-first tree from rank 0. Over a
/// star in one segment, this is a reduction at rank 0 and a broadcast from there, what a parameter server on the
/// workers' own network does.
///
/// Time for a complete tree of depth D with k children at each inner rank and segments of c bytes: the link into a
/// parent (up) and out of it (down) carries k segments in each stage, and the first segment needs D stages, each
/// further one another: (D + m - 1)(2α + 2k·c·β + k·c·γ). With D = 1, where segments do not overlap, k·S in place of
/// m·k·c, so that they may differ by a byte. No closed form for other trees and unequal segments. Source: the pipelined
/// tree of J. Pješivac-Grbić et al., "Performance analysis of MPI collective operations", Cluster Computing 10 (2007)
/// 127-143; the stage's time follows from the links' capacities.
namespace syncline {

class PipelinedTree : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: one segment.
    PipelinedTree(SpanningTree tree, double segment_bytes);
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "(D + m - 1)(2α + 2kcβ + kcγ)"; }

private:
    /// Throws AlgorithmError on key "segment" if there are too many.
    std::uint32_t segments(std::uint64_t bytes) const;

    SpanningTree tree_;
    double segment_bytes_;
};

}  // namespace syncline
