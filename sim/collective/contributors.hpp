#pragma once

#include "sim/collective/algorithm.hpp"

/// Allgather and all-reduce in which the first q of N ranks contribute and the first q' receive, for model-parallel
/// layers that have fewer parts than there are ranks.
///
/// In an allgather S bytes are all contributions together, in an all-reduce one contribution (as large as the sum).
/// Every receiver that has none of the S bytes must receive them all: S·β at least.
///
/// allgather:
/// - `ring` (ring.hpp): N blocks around the ring of all ranks, of which q are filled and N-q empty. (N-1)(α + ⌈S/q⌉·β),
///   (N-1)·S bytes. No rank is left out, so q' makes no difference.
/// - (i) `padded-ring`: every rank sends as much as the largest contributor, so that an allgather of equal counts can
///   be used. The same time, N(N-1)·⌈S/q⌉ bytes.
/// - (ii) `ring-broadcast`: a ring among the contributors, then contributor i passes the result on to the receivers
///   i+q, i+2q, …, so that the largest such group has g = ⌈q'/q⌉ members, including the contributor. (q-1)(α +
///   ⌈S/q⌉·β), and then, by doubling the number of ranks that have it, ⌈lg g⌉(α + S·β); or along a chain in m segments,
///   each passed on while the next one arrives, (g-2 + m)(α + ⌈S/m⌉·β) if g > 1. (q-1)·S bytes, and S for each further
///   receiver.
/// - `spread-doubling`: contributor i concurrently sends their parts to the ranks whose N-th part of the result lies in
///   its contribution, and recursive doubling gathers these. The contributors' links are busy for at most ⌈S/q⌉, so the
///   time is less than (⌈lg N⌉ + 1)α + (1/q + (N-1)/N)·S·β with 2^k ranks, near the minimum; there is no exact form.
///
/// all-reduce:
/// - (iii) `reduce-scatter-allgather`: the buffer in b = min(q, q') blocks; a ring reduce-scatter among the
///   contributors, a ring allgather among the receivers. (q-1)(α + ⌈S/b⌉(β + γ)) + (q'-1)(α + ⌈S/b⌉·β), (q + q' - 2)·S
///   bytes. Ranks that neither contribute nor receive do nothing.
/// - (iv) `ring` (ring.hpp): the naive full all-reduce, in which all ranks take part, ranks without data with zeros,
///   and all receive: 2(N-1)(α + ⌈S/N⌉·β) + (N-1)·⌈S/N⌉·γ, 2(N-1)·S bytes.
///
/// No variant moves more bytes than the padded or the naive one. The forms are exact for any S, except that
/// `ring-broadcast` with g > 1 has none if q or m does not divide S.
///
/// Sources: A. Castelló et al., "Analysis of model parallelism for distributed neural networks", EuroMPI 2019, whose
/// abstract argues for such variants; the variants and their times are derived here from the rings', and from the
/// pipelined chain of J. Pješivac-Grbić et al., "Performance analysis of MPI collective operations", Cluster Computing
/// 10 (2007) 127-143.
namespace syncline {

/// Variant (i).
class PaddedRing : public CollectiveAlgorithm {
public:
    explicit PaddedRing(std::uint32_t contributors) : contributors_(contributors) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "(N-1)(α + ⌈S/q⌉β), q contributors"; }

private:
    std::uint32_t contributors_;
};

/// Variant (ii).
class RingBroadcast : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: pass the result on by doubling.
    RingBroadcast(std::uint32_t contributors, std::uint32_t receivers, double segment_bytes)
        : contributors_(contributors), receivers_(receivers), segment_bytes_(segment_bytes) {}
    /// Numbers blocks so that the contributors' parts and the segments are whole ranges of them. Throws AlgorithmError
    /// on key "segment" if there are too many.
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override;

private:
    /// Counts contributor i and the receivers i+q, i+2q, …
    std::uint32_t group_size(std::uint32_t contributor) const;

    std::uint32_t contributors_, receivers_;
    double segment_bytes_;
};

/// Variant `spread-doubling`.
class SpreadDoubling : public CollectiveAlgorithm {
public:
    explicit SpreadDoubling(std::uint32_t contributors) : contributors_(contributors) {}
    /// Uses lcm(q, N) blocks, so that a contributor's part and a rank's part are whole numbers of them.
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    /// Returns nothing, unless all ranks contribute.
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "< (⌈lg N⌉ + 1)α + (1/q + (N-1)/N)Sβ"; }

private:
    std::uint32_t contributors_;
};

/// Variant (iii).
class ReduceScatterAllgather : public CollectiveAlgorithm {
public:
    ReduceScatterAllgather(std::uint32_t contributors, std::uint32_t receivers)
        : contributors_(contributors), receivers_(receivers) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "(q-1)(α + ⌈S/b⌉(β + γ)) + (q'-1)(α + ⌈S/b⌉β), b = min(q, q')"; }

private:
    Partition partition(std::uint64_t bytes) const;

    std::uint32_t contributors_, receivers_;
};

}  // namespace syncline
