#pragma once

#include <cstdint>
#include <vector>

#include "sim/lowering/lowered.hpp"

/// Ranks of a stage that do the same by construction, so that the first of them can stand for all.
///
/// With B ranks in each stage, rank i and rank i + k (mod B) have equal tasks if the shift by k takes
///
/// - layouts to themselves: k is a multiple of each layer's rows · cells, since times, parts and sizes of exchanges
///   differ only among these;
/// - groups to groups. A grouping of `size` ranks with the same `stride` repeats every s = size · stride ranks. If
///   s < B, k is a multiple of s; a grouping with s = B, such as that of all replicas, is turned by k / stride places.
///
/// So k is the least common multiple of these numbers, or a multiple of it. Then build_iteration() adds to rank i + k
/// what it adds to rank i. Programs of exchanges and links are another matter, which symmetry.hpp checks.
///
/// Left out, as no rank is like another: noise, servers, switches that reduce, gossip, orders by priority, negotiation
/// with rank 0, and experts with different numbers of tokens.
namespace syncline {

/// Returns the numbers of ranks, of which the first in each stage may stand for the others, in ascending order: the
/// divisors k < B of B that the above allows.
std::vector<std::uint32_t> alike_ranks(const Lowered& training);

}  // namespace syncline
