#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "sim/collective/factories.hpp"
#include "sim/collective/segments.hpp"

/// NCCL's all-reduce over double binary trees of nodes, with a chain of devices inside each node.
///
/// Each of two trees carries half of the buffer, in m segments. Its vertices are nodes: in the first tree node 0 is the
/// root and has one child, and node r > 0, whose lowest set bit is b, has the parent r - b with bit 2b set, or r - b if
/// there is no such node; the second tree is its mirror image if the number of nodes is even, and the first shifted by
/// one node if it is odd. So a node is inner in at most one of them. The first rank of a node, its head, exchanges with
/// the heads of the parent and of the children; the node's other ranks follow in a chain. A rank adds what its children
/// and its successor in the chain send and passes the sum on, segment by segment; the root sends each segment back as
/// soon as it has it, while later ones are still on the way up. So each rank has two lanes for each tree, up and down;
/// the root has one.
///
/// (N-1)·S bytes each way, 2(N-1)·2m messages. There is no closed form here; of a chain of N ranks on one node with
/// fast links it is about 2(N-1) latencies and S·β.
///
/// Source: NVIDIA NCCL 2.28, src/graph/trees.cc (ncclGetBtree, ncclGetDtree), src/graph/connect.cc (connectTrees),
/// src/device/all_reduce.h (runTreeUpDown, runTreeSplit: reduction and broadcast by different threads at once). The
/// segments follow src/enqueue.cc (calcCollChunking): 512 KiB of a channel's share, halved down to 128 KiB while a
/// channel has fewer than 8 segments per level, down to 64 KiB for fewer than 4, and to 32 KiB for fewer than one. Left
/// out: NCCL lets the head of a node be another rank for the children than for the parent, so that two devices of a
/// node share the traffic of its port.
namespace syncline {

namespace {

constexpr std::uint32_t nobody = ~std::uint32_t{0};

/// Returns the parent of a node in the binary tree of `nodes` nodes; nobody for node 0, the root.
std::uint32_t parent_of(std::uint32_t node, std::uint32_t nodes) {
    if (node == 0) return nobody;
    const std::uint32_t lowest = node & (~node + 1);
    const std::uint32_t above = (node ^ lowest) | (lowest << 1);
    return above >= nodes ? node ^ lowest : above;
}

/// Returns the same in the second tree.
std::uint32_t parent_in_second(std::uint32_t node, std::uint32_t nodes) {
    if (nodes % 2 == 0) {
        const std::uint32_t parent = parent_of(nodes - 1 - node, nodes);
        return parent == nobody ? nobody : nodes - 1 - parent;
    }
    const std::uint32_t parent = parent_of((node + nodes - 1) % nodes, nodes);
    return parent == nobody ? nobody : (parent + 1) % nodes;
}

/// One tree over the ranks.
struct RankTree {
    std::vector<std::uint32_t> parent;
    std::vector<std::vector<std::uint32_t>> children;
    std::uint32_t depth = 0;  ///< in hops
};

RankTree tree_over(const std::vector<std::uint32_t>& first, std::uint32_t ranks, bool second) {
    const auto nodes = static_cast<std::uint32_t>(first.size());
    RankTree tree{std::vector<std::uint32_t>(ranks, nobody), std::vector<std::vector<std::uint32_t>>(ranks)};
    for (std::uint32_t node = 0; node < nodes; ++node) {
        const std::uint32_t above = second ? parent_in_second(node, nodes) : parent_of(node, nodes);
        const std::uint32_t head = first[node], end = node + 1 < nodes ? first[node + 1] : ranks;
        tree.parent[head] = above == nobody ? nobody : first[above];
        for (std::uint32_t rank = head + 1; rank < end; ++rank) tree.parent[rank] = rank - 1;
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (tree.parent[rank] != nobody) tree.children[tree.parent[rank]].push_back(rank);
        std::uint32_t depth = 0;
        for (std::uint32_t at = rank; tree.parent[at] != nobody; at = tree.parent[at]) ++depth;
        tree.depth = std::max(tree.depth, depth);
    }
    return tree;
}

class NcclTree : public CollectiveAlgorithm {
public:
    /// `node_ranks`: number of consecutive ranks on each node; empty: one. `segment_bytes` 0: NCCL's, see above.
    NcclTree(std::vector<std::uint32_t> node_ranks, std::uint32_t ranks, double segment_bytes)
        : segment_bytes_(segment_bytes) {
        std::vector<std::uint32_t> first;
        if (node_ranks.empty()) node_ranks.assign(ranks, 1);
        for (std::uint32_t at = 0; const std::uint32_t here : node_ranks) {
            first.push_back(at);
            at += here;
        }
        trees_[0] = tree_over(first, ranks, false);
        trees_[1] = tree_over(first, ranks, true);
    }

    std::uint32_t lanes() const override { return 4; }
    std::uint32_t slices() const override { return 2; }

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override {
        return lane_program(0, rank, ranks, bytes, round);
    }

    Program lane_program(std::uint32_t lane, std::uint32_t rank, std::uint32_t, std::uint64_t bytes,
                         std::uint32_t) const override {
        const std::uint32_t half = lane / 2;
        const bool down = lane % 2 == 1;
        const RankTree& tree = trees_[half];
        const Partition halves{bytes, 2};
        Program program;
        program.offset = halves.offset(half);
        program.slice = program.channel = half;
        program.partition = {halves.size(half), segments(halves.size(half), tree.depth)};
        const std::uint32_t parent = tree.parent[rank];
        const std::vector<std::uint32_t>& children = tree.children[rank];
        if (parent == nobody) {  // the root turns round in its first lane
            if (!down && !children.empty()) pass_on(program, children, true, children);
        } else if (down) {
            pass_on(program, {parent}, false, children);
        } else {
            pass_on(program, children, true, {parent});
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t, const MessageCost&) const override {
        return ranks == 1 ? std::optional(0.0) : std::nullopt;
    }

    std::string formula(bool) const override { return ""; }

private:
    std::uint32_t segments(std::uint64_t bytes, std::uint32_t depth) const {
        double segment = segment_bytes_;
        if (segment == 0) {
            segment = 512 * 1024;
            const double share = static_cast<double>(bytes), levels = std::max(depth, 1u);
            while (share / segment < levels * 8 && segment > 128 * 1024) segment /= 2;
            while (share / segment < levels * 4 && segment > 64 * 1024) segment /= 2;
            while (share / segment < levels && segment > 32 * 1024) segment /= 2;
        }
        return segment_count(bytes, segment, 1);
    }

    /// Adds steps that receive each segment from all of `from`, and send it to all of `to` while the next one arrives.
    static void pass_on(Program& program, const std::vector<std::uint32_t>& from, bool reduce,
                        const std::vector<std::uint32_t>& to) {
        const std::uint32_t count = program.partition.blocks;
        const auto messages = [](const std::vector<std::uint32_t>& peers, std::uint32_t block) {
            std::vector<Message> all;
            for (const std::uint32_t peer : peers) all.push_back({peer, block, 1, 1});
            return all;
        };
        if (from.empty() || to.empty()) {
            program.steps.push_back({messages(to, 0), messages(from, 0), reduce && !from.empty(), count});
            return;
        }
        program.steps.push_back({{}, messages(from, 0), reduce});
        if (count > 1) program.steps.push_back({messages(to, 0), messages(from, 1), reduce, count - 1});
        program.steps.push_back({messages(to, count - 1), {}, false});
    }

    RankTree trees_[2];
    double segment_bytes_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::nccl_tree(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<NcclTree>(spec.node_ranks, ranks, spec.segment_bytes);
}

}  // namespace syncline
