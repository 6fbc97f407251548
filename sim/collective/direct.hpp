#pragma once

#include "sim/collective/algorithm.hpp"

/// Direct exchange, the flat ("linear") algorithm of MPI libraries: every message that the operation needs, from the
/// owner of a block to its destination, all started together. The times follow from the links' capacities.
///
/// Among all ranks, N(N-1) messages and (N-1)·S bytes: all-to-all, every rank sends block j to rank j; reduce-scatter,
/// the same, and blocks are added; allgather, every rank sends its block to all; all-reduce, the last two in turn. Time
/// α + (N-1)·c·β with c = ⌈S/N⌉, and (N-1)·c·γ if blocks are added: blocks share the links equally, N-1 in and N-1 out
/// at each rank, and larger ones keep that share of their own ends to the last.
///
/// With a root (rank 0), N-1 messages: scatter and gather of the other ranks' blocks, S - ⌊S/N⌋ bytes in all; broadcast
/// and reduce of whole buffers, (N-1)·S. They share the root's link: α plus β for all bytes, and γ for a reduce's.
namespace syncline {

class Direct : public CollectiveAlgorithm {
public:
    enum class Operation { all_to_all, reduce_scatter, allgather, allreduce };

    explicit Direct(Operation operation) : operation_(operation) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula(bool) const override;

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
    std::string formula(bool) const override;

private:
    bool whole() const { return operation_ == Operation::broadcast || operation_ == Operation::reduce; }
    bool inwards() const { return operation_ == Operation::gather || operation_ == Operation::reduce; }

    Operation operation_;
};

}  // namespace syncline
