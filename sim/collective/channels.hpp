#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// A collective in channels: k instances of an algorithm side by side, each with a k-th of the buffer, and with the
/// members in an order of its own, so that each leaves a node through another port, or takes other links inside it. If
/// no two channels share a link, the time is that of the algorithm with S/k bytes; if all share every link, that with S
/// bytes (up to the rounding of blocks). A device reduces in all channels, each at a k-th of its rate.
///
/// Channel c has the bytes [S·c/k, S·(c+1)/k) of the buffer. Position p of its order plays the part of rank p. Where
/// blocks belong to members (reduce-scatter, allgather), order() says whose they are; in memory a channel's part of a
/// member's block is a part of that block, so that some blocks may differ by a byte.
///
/// Source: NVIDIA NCCL 2.28, src/graph/connect.cc (channels and their rings), src/enqueue.cc (shares of the bytes).
/// Left out: NCCL's chunks of a channel's share, one of which is sent while the next is received.
namespace syncline {

/// Returns `of` in channels, one for each order of the members. Every order holds each member once. An algorithm in
/// which peers turn cannot be reordered: std::logic_error from program().
std::shared_ptr<const CollectiveAlgorithm> in_channels(std::shared_ptr<const CollectiveAlgorithm> of,
                                                       std::vector<std::vector<std::uint32_t>> orders);

}  // namespace syncline
