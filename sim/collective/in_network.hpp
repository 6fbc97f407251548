#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// All-reduce in the network: switches add up what arrives from below, and the topmost switch sends the result back
/// down the same tree. With one rank per node each sends S bytes and receives S bytes, in m segments. With equal
/// segments of c bytes, and h hops from a rank to the root, each of which takes α' + c·β and is shared by no two
/// children:
///     T = 2hα' + (m + 2h - 1)c·β, for one switch 2α' + S·β + c·β,
/// which tends to 2hα' + S·β for many segments: half of a ring's 2(N-1)/N·S·β for many ranks. With one segment it is
/// 2α' + S·β up + S·β down. If α' blocks, each of the m + 2h - 1 steps has it. Additions take no time.
///
/// With k ranks on each node, the rank of number j sends and receives part j of the buffer, S/k bytes, to and from the
/// switches, while the ranks of a node exchange: every link inside carries S(1 + 1/k) bytes in each direction if the
/// node's switch adds up (nvls.hpp), and otherwise 2S(k-1)/k, as by a reduce-scatter and an all-gather. Segments are in
/// all of these at once, so the slowest sets the time.
///
/// Sources: R. Graham et al., "Scalable hierarchical aggregation protocol (SHArP)", COM-HPC 2016; the default segment
/// is NCCL's (128 KiB). Left out: the switches' limited buffers and number of trees; that a segment is in one of these
/// after another. Switches that add up inside nodes alone are in nvls.hpp.
namespace syncline {

/// The switches that take part; number 0 is the topmost one.
struct SwitchTree {
    std::vector<std::uint32_t> above_rank;    ///< by rank: the switch to which it sends
    std::vector<std::uint32_t> above_switch;  ///< by switch: the next one towards number 0; itself for number 0
    std::vector<std::uint32_t> vertices;      ///< by switch: its vertex in the fabric
    std::vector<std::vector<std::uint32_t>> nodes = {};  ///< by node: its ranks, as many on each; empty: one on each
    bool node_adds = false;                              ///< the switch inside a node adds up

    std::uint32_t ranks() const { return static_cast<std::uint32_t>(above_rank.size()); }
    std::uint32_t node_ranks() const { return nodes.empty() ? 1 : static_cast<std::uint32_t>(nodes.front().size()); }
    std::uint32_t switches() const { return static_cast<std::uint32_t>(above_switch.size()); }
};

/// Its group has more members than ranks, for N ranks and K switches: 0 … N-1 are the ranks' upper halves, N … 2N-1
/// their lower halves, which get the result, 2N … 2N+K-1 the switches' upper halves, of which the topmost is whole,
/// then the lower halves of the others.
class InNetwork : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: the default.
    InNetwork(SwitchTree tree, double segment_bytes);

    const SwitchTree& tree() const { return tree_; }
    std::uint32_t members() const { return 2 * tree_.ranks() + 2 * tree_.switches() - 1; }
    std::uint32_t rank_below(std::uint32_t rank) const { return tree_.ranks() + rank; }
    std::uint32_t upper(std::uint32_t number) const { return 2 * tree_.ranks() + number; }
    /// Returns the half of a switch that sends results down.
    std::uint32_t lower(std::uint32_t number) const {
        return number == 0 ? upper(0) : 2 * tree_.ranks() + tree_.switches() + number - 1;
    }

    /// Lane j is the tree of part j; with several ranks on a node the last one is the exchange inside nodes.
    std::uint32_t lanes() const override;
    Program program(std::uint32_t member, std::uint32_t members, std::uint64_t bytes,
                    std::uint32_t round) const override;
    Program lane_program(std::uint32_t lane, std::uint32_t member, std::uint32_t members, std::uint64_t bytes,
                         std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula(bool travels) const override;

private:
    SwitchTree tree_;
    double segment_bytes_;
    Program inside(std::uint32_t member, std::uint64_t bytes) const;

    std::vector<std::uint32_t> node_of_, number_;  ///< by rank: its node, and its number there
    /// By part and switch: members.
    std::vector<std::vector<std::vector<std::uint32_t>>> from_below_, to_below_;
};

}  // namespace syncline
