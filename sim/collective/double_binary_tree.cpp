#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "sim/collective/factories.hpp"
#include "sim/collective/segments.hpp"
#include "sim/collective/tree_steps.hpp"

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
/// Time, if α blocks, with c = S/(2m) and the latest first step A ≤ 2⌈lg N⌉: A + 2(m-1) steps of α + c·β each, with c·γ
/// for a reduction (see tree_steps.hpp; with three ranks c·γ less, because the rank that sends in the second step sends
/// again in the third, while another rank adds what was sent in the second). An all-reduce is a reduction and then a
/// broadcast. There is no closed form for buffers that 2m does not divide. (N-1)·S bytes each way. If α travels there
/// is none for N > 1, but this time is an upper bound: a rank works on both trees in turn, so each tree waits for the
/// other's latency.
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

namespace {

constexpr double default_segment_bytes = 512 * 1024, most_unasked = 1 << 20;

/// Returns the parent in the binary tree of 1 … `nodes` in order, in which a node's height is the number of trailing
/// zeros of its number; 0 for the root. A node whose parent would be beyond `nodes` takes the next existing node above.
std::uint32_t parent_in_order(std::uint32_t node, std::uint32_t nodes) {
    const std::uint32_t lowest = node & (~node + 1);
    const std::uint32_t left = node - lowest, between = left | (lowest << 1);
    return between <= nodes ? between : left;
}

class DoubleBinaryTree : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: the default size, see above.
    DoubleBinaryTree(TreeOperation operation, std::uint32_t ranks, double segment_bytes)
        : operation_(operation), segment_bytes_(segment_bytes) {
        const std::uint32_t nodes = ranks - 1;
        for (Tree& tree : trees_) {
            tree.parent.assign(ranks, 0);
            tree.first_step.assign(ranks, 0);
            tree.children.resize(ranks);
        }
        const auto in_second = [&](std::uint32_t node) {
            if (node == 0) return node;
            return nodes % 2 == 0 ? nodes + 1 - node : node % nodes + 1;
        };
        for (std::uint32_t node = 1; node <= nodes; ++node) {
            const std::uint32_t parent = parent_in_order(node, nodes);
            trees_[0].parent[node] = parent;
            trees_[0].children[parent].push_back(node);
            trees_[1].parent[in_second(node)] = in_second(parent);
            trees_[1].children[in_second(parent)].push_back(in_second(node));
        }
        if (ranks > 1) colour_edges();
    }

    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const override {
        const TreeSchedule steps = schedule(bytes);
        std::vector<Hop> hops;
        for (std::uint32_t half = 0; half < 2; ++half) {
            const Tree& tree = trees_[half];
            const std::uint32_t block = half * steps.segments;
            if (rank != 0) hops.push_back({tree.parent[rank], block, tree.first_step[rank], false});
            for (const std::uint32_t child : tree.children[rank])
                hops.push_back({child, block, tree.first_step[child], true});
        }
        return tree_program(operation_, {bytes, 2 * steps.segments}, hops, steps);
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (ranks == 1) return 0;
        if (message.travels) return {};
        const TreeSchedule steps = schedule(bytes);
        const std::uint32_t blocks = 2 * steps.segments;
        if (bytes % blocks != 0) return {};
        const auto block = static_cast<double>(bytes / blocks);
        double seconds = tree_cost(operation_, steps.steps(), block, message);
        // Rank 1 sends in the second step and in the third, so no rank waits for the reduction between them.
        if (ranks == 3 && operation_ != TreeOperation::broadcast) seconds -= block * message.gamma_s_per_B;
        return seconds;
    }

    std::string formula(bool) const override { return tree_formula(operation_, "(A + 2(m-1))", "c"); }

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
    void colour_edges() {
        constexpr std::uint32_t none = 2;
        std::array<std::vector<std::uint32_t>, 2> colours;
        for (auto& of_tree : colours) of_tree.assign(trees_[0].parent.size(), none);
        // All edges that share a sender or a receiver with a coloured edge get the other colour, and so on.
        const auto colour_from = [&](Edge edge, std::uint32_t colour) {
            std::vector<std::pair<Edge, std::uint32_t>> open{{edge, colour}};
            while (!open.empty()) {
                const auto [at, its] = open.back();
                open.pop_back();
                if (colours[at.tree][at.child] != none) continue;
                colours[at.tree][at.child] = its;
                open.push_back({{1 - at.tree, at.child}, 1 - its});
                const std::uint32_t sender = trees_[at.tree].parent[at.child];
                for (std::uint32_t tree : {0u, 1u})
                    for (const std::uint32_t child : trees_[tree].children[sender])
                        if (tree != at.tree || child != at.child) open.push_back({{tree, child}, 1 - its});
            }
        };
        std::vector<Edge> order{{0, trees_[0].children[0].front()}, {1, trees_[1].children[0].front()}};
        for (std::size_t next = 0; next < order.size(); ++next) {
            const Edge edge = order[next];
            Tree& tree = trees_[edge.tree];
            const std::uint32_t soonest = tree.first_step[tree.parent[edge.child]] + 1;
            if (colours[edge.tree][edge.child] == none) colour_from(edge, soonest % 2);
            const bool fits = colours[edge.tree][edge.child] == soonest % 2;
            tree.first_step[edge.child] = fits ? soonest : soonest + 1;
            last_ = std::max(last_, tree.first_step[edge.child]);
            for (const std::uint32_t child : tree.children[edge.child]) order.push_back({edge.tree, child});
        }
    }

    TreeSchedule schedule(std::uint64_t bytes) const {
        const double standard_bytes =
            std::max(default_segment_bytes, std::ceil(static_cast<double>(bytes) / most_unasked));
        return {2, last_, (segment_count(bytes, segment_bytes_ == 0 ? standard_bytes : segment_bytes_) + 1) / 2};
    }

    TreeOperation operation_;
    double segment_bytes_;
    std::array<Tree, 2> trees_;
    std::uint32_t last_ = 0;  ///< A
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::double_binary_tree(const AlgorithmSpec& spec,
                                                                          std::uint32_t ranks) {
    return std::make_shared<DoubleBinaryTree>(tree_operation(spec), ranks, spec.segment_bytes);
}

}  // namespace syncline
