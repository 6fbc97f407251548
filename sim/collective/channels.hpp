#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// A collective in channels: k instances of an algorithm side by side, each with a k-th of the buffer, and with the
/// members in an order of its own.
///
/// Libraries run rings in channels so that each leaves a node through another port, or takes other links inside it: a
/// node with k ports then has k rings that each carry S/k. On a fabric on which no two channels share a link, the time
/// is that of the algorithm with S/k bytes; if all share every link, that with S bytes (up to the rounding of blocks):
/// the same bytes are on the wires. A device reduces in all channels side by side, each at a k-th of its rate.
///
/// Channel c has the bytes [S·c/k, S·(c+1)/k) of the buffer. Position p of its order plays the part of rank p in the
/// algorithm. Where blocks belong to members (reduce-scatter, allgather), order() says whose they are; in memory a
/// channel's part of a member's block is a part of that block, so that the buffer is cut differently, but equally. A
/// negligible difference: for a number of bytes that the members times k do not divide, some blocks differ by a byte.
///
/// Source: NVIDIA NCCL 2.28, src/graph/connect.cc (channels and their rings), src/enqueue.cc (shares of the bytes).
/// Left out: NCCL cuts each channel's share into chunks of its buffers' slots, and sends one while it receives the
/// next.
namespace syncline {

/// Returns `of` in channels, one for each order of the members. Every order holds each member once. An algorithm in
/// which peers turn cannot be reordered: std::logic_error from program().
std::shared_ptr<const CollectiveAlgorithm> in_channels(std::shared_ptr<const CollectiveAlgorithm> of,
                                                       std::vector<std::vector<std::uint32_t>> orders);

}  // namespace syncline
