#pragma once

#include <array>

#include "sim/collective/tree.hpp"

/// Double binary tree: each of two trees carries half of the buffer, and a rank is an inner vertex in at most one of
/// them.
///
/// A single binary tree leaves half of all ports idle: leaves never send, and an inner rank sends twice what it
/// receives. Here rank 0 sends each half, in m segments, to the root of one of two binary trees over all other ranks.
/// The ranks of the first tree are numbered in order (so that odd ones are leaves); the second is its mirror image if
/// the number of these ranks is even, otherwise the first shifted by one. Edges are coloured with two colours, for odd
/// and even steps, such that no rank sends two messages of one colour or receives two: ranks as senders and as
/// receivers, connected by the edges, form a bipartite graph of degree two, which consists of paths and cycles of even
/// length.
///
/// Time with c = S/(2m) and the latest first step A ≤ 2⌈lg N⌉: A + 2(m-1) steps of α + c·β each, with c·γ for a
/// reduction (see tree.hpp; with three ranks c·γ less, because the rank that sends in the second step sends again in
/// the third, while another rank adds what was sent in the second). An all-reduce is a reduction and then a broadcast.
/// There is no closed form for buffers that 2m does not divide. (N-1)·S bytes each way.
///
/// Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
/// Parallel Computing 35 (2009) 581-594; trees and steps are from the paper, the choice of the first colour is made
/// here (the earlier one, from the roots down). NCCL's all-reduce uses two such trees (S. Jeaugey, "Massively scale
/// your deep learning training with NCCL 2.4", NVIDIA, 2019), but without a rank above their roots, and each segment
/// starts down as soon as it has arrived at the root, concurrently with segments still on the way up: left out here.
///
/// Without a given size, segments are at most 512 KiB: a slot of NCCL's buffers (4 MiB in 8 steps, protocol Simple),
/// independent of N, α and β, and there are at most 2^20.
namespace syncline {

class DoubleBinaryTree : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: the default size, see above.
    DoubleBinaryTree(TreeOperation operation, std::uint32_t ranks, double segment_bytes);
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return tree_formula(operation_, "(A + 2(m-1))", "c"); }

private:
    /// One tree, by rank; rank 0 is above the root.
    struct Tree {
        std::vector<std::uint32_t> parent, first_step;
        std::vector<std::vector<std::uint32_t>> children;
    };
    struct Edge {
        std::uint32_t tree = 0, child = 0;
    };

    /// Determines the steps of all edges' first segments.
    void colour_edges();
    TreeSchedule schedule(std::uint64_t bytes) const;

    TreeOperation operation_;
    double segment_bytes_;
    std::array<Tree, 2> trees_;
    std::uint32_t last_ = 0;  ///< A
};

}  // namespace syncline
