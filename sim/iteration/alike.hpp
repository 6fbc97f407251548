#pragma once

#include <cstdint>
#include <vector>

#include "sim/lowering/lowered.hpp"
#include "sim/taskgraph/rotations.hpp"

/// Ranks of a stage that do the same by construction, so that one of them can stand for all.
///
/// Consider the rotation of ranks by k places within each span of s ranks of a stage, such as a replica of
/// tensor-parallel ranks or, with s = B, all B ranks of the stage. Ranks have equal tasks if it takes
///
/// - layers to themselves: all rows of a layer have a part of it, or k is a multiple of its rows. (Times and sizes of
///   ranks with a part are equal.);
/// - groups to groups of the same size. A grouping of n ranks with the same stride repeats every n·stride ranks. If k
///   is a multiple of this, its groups are moved; if s divides it, and the stride k, as that of all replicas with s = B
///   or of a node's experts in a group over several nodes, members of each group are permuted; if s divides the stride,
///   each member moves in its own span.
/// - exchanges to exchanges of as many bytes;
/// - ranks to ranks that compute for the same times, on nodes of several kinds.
///
/// Then build_iteration() adds to the image of a rank what it adds to the rank. Programs of exchanges and links are
/// another matter, which symmetry.hpp checks.
///
/// With documents of different lengths only ranks of the same replica are alike.
///
/// Left out, as no rank is like another: noise, servers, switches that reduce, gossip, orders by priority, negotiation
/// with rank 0, and experts with different numbers of tokens.
namespace syncline {

/// Returns rotations that take ranks to ranks with equal tasks: of each span that has one, the largest first, that with
/// the smallest period. In its place any multiple does, too.
std::vector<Rotation> alike_ranks(const Lowered& training);

}  // namespace syncline
