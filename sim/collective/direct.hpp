#pragma once

#include "sim/collective/algorithm.hpp"

/// Directly and all at once: every message that the operation needs, from where a block is to where it is wanted.
///
/// Among all, N(N-1) messages and (N-1)·S bytes: all-to-all, every rank sends block j of its buffer to rank j (and its
/// number is j at both ends); reduce-scatter, the same, and what arrives is added; allgather, every rank sends its
/// block to all; all-reduce, the last two in turn. Time α + (N-1)·c·β with c = ⌈S/N⌉, and (N-1)·c·γ where it is added:
/// all blocks share the links alike, N-1 in and N-1 out at each rank, until the smaller ones are through; then the
/// larger ones' links on the other side are less shared, and on theirs N-1 ways as before.
///
/// With a root (rank 0), N-1 messages: scatter and gather of the other ranks' blocks, S - ⌊S/N⌋ bytes in all; broadcast
/// and reduce of whole buffers, (N-1)·S. They share the root's link, so that it takes α and the bytes' β, and γ for
/// those of a reduce.
///
/// These are the flat ("linear") algorithms of MPI libraries and the least number of steps; the times follow from the
/// links' capacities.
namespace syncline {

class Direct : public CollectiveAlgorithm {
public:
    enum class Operation { all_to_all, reduce_scatter, allgather, allreduce };

    explicit Direct(Operation operation) : operation_(operation) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override;

private:
    bool reduces() const { return operation_ == Operation::reduce_scatter || operation_ == Operation::allreduce; }
    bool gathers() const { return operation_ == Operation::allgather || operation_ == Operation::allreduce; }

    Operation operation_;
};

class DirectRooted : public CollectiveAlgorithm {
public:
    enum class Operation { scatter, gather, broadcast, reduce };

    explicit DirectRooted(Operation operation) : operation_(operation) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override;

private:
    bool whole() const { return operation_ == Operation::broadcast || operation_ == Operation::reduce; }
    bool inwards() const { return operation_ == Operation::gather || operation_ == Operation::reduce; }

    Operation operation_;
};

}  // namespace syncline
