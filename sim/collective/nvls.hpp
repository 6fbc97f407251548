#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// All-reduce by the switches inside nodes (NVLink SHARP, NVLS), among N ranks of one node or of several.
///
/// One node: each rank, a head for its N-th of the buffer of S bytes, reads this part of all ranks' buffers, added up
/// by the switch, and writes the sum to all ranks at once. A rank's link carries in each direction the reads of its
/// whole buffer and its own part once more:
///     T = α + S(1 + 1/N)·β,
/// a bus bandwidth of 2(N-1)/(N+1)/β. The program has the same load on every rank's links, in messages of equal size
/// between all pairs of ranks; the exchange ends when all have arrived. Sources: NVIDIA NCCL 2.28, src/graph/search.cc
/// (ncclTopoSearchTryNvls: a head's link has heads + 1 shares), src/sym_kernels.cc (S + S/N); NVIDIA/nccl-tests, issue
/// 212. Beyond 32 ranks the part is a 32nd, as NCCL has at most 32 heads.
///
/// M nodes of h ranks (NVLSTree): the same inside each node, while the part of head j, S/h bytes, is added up over the
/// nodes' ranks of number j by a double binary tree. Chunks of the buffer are in both at once, so the slower of the two
/// sets the time:
///     T ≈ α + α_tree + max(S(1 + 1/h)·β, 2S/h·β' or, on two nodes, S/h·β'),
/// with β' of a rank's port. Source: the same, src/device/all_reduce.h (NVLS_TREE). Left out: the tree's result reaches
/// the other ranks a latency later.
///
/// Switches add without taking time; ranks add what they get from other nodes.
namespace syncline {

/// Returns the algorithm for these numbers of consecutive ranks on each node, which are equal.
std::shared_ptr<const CollectiveAlgorithm> nvls(const std::vector<std::uint32_t>& node_ranks);

/// Returns the bytes of a rank's link in each direction, for a buffer of `bytes` among `ranks` of a node.
std::uint64_t nvls_load(std::uint64_t bytes, std::uint32_t ranks);

/// Returns a step with a block to and from each of the other `peers` of number `own`, as many blocks as others.
Step with_all_others(const std::vector<std::uint32_t>& peers, std::uint32_t own);

/// Returns NCCL's size of a chunk for a buffer among `heads` ranks of a node: 128 KiB; 64, 32 or 16 KiB for buffers of
/// fewer than 64, 8 or 2 rounds of such chunks. Source: src/enqueue.cc, calcCollChunking.
double nvls_chunk_bytes(std::uint64_t bytes, std::uint32_t heads, std::uint32_t channels);

}  // namespace syncline
