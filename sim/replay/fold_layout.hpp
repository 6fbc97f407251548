#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/replay/wires.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Which parts of an exchange can be folded (folding.hpp): its members' programs, cut into sections.
///
/// A section is a run of equal steps (runs.hpp) or what stands between two. The j-th runs of several members are one
/// ring if their messages go to each other, and take as many steps. Where all members' programs are nothing but runs of
/// the same lengths, the j-th of all are one ring, since the rings among them may have links in common and keep in
/// step.
///
/// In groups of up to `exact_members` nothing is folded that could change a time. Larger ones have so many steps that
/// one more or less is of no account.
///
/// Blocks that differ by a byte keep the steps of a ring from being equal. In small groups such a ring is not folded;
/// in large ones all its blocks count as the largest.
/// Whether members gather, and begin a ring together: where all their messages have the same rate and latency, and none
/// has to share, a ring ends when it would if those who come early had begun early, since by then everyone has waited
/// for the last one, however far (it needs half as many steps as there are members: t_r(k+1) is the latest of t_r,
/// t_(r-1) and t_(r+1) at k, plus the step). Elsewhere it ends later by at most what the last came after the first, and
/// members do not gather in small groups.
namespace syncline {

inline constexpr std::uint32_t exact_members = 128;

struct Section {
    static constexpr std::uint32_t no_ring = ~std::uint32_t{0};

    std::uint32_t taken = 0;           ///< steps
    std::uint32_t ring = no_ring;      ///< in FoldLayout::rings
    bool gathers = false;              ///< the ring's members begin together
    std::vector<std::uint32_t> links;  ///< that what it sends goes over, each once
};

struct FoldedRing {
    std::uint32_t members = 0;
    std::uint32_t steps = 0;
    bool exact = true;    ///< may not be folded where that could change a time
    bool lone = true;     ///< no two of a step's messages share a link: each takes its time, whatever the others do
    bool uniform = true;  ///< all messages have the same bytes, rate and latency
    bool padded = false;  ///< all blocks count as the largest
    bool keeps_largest = true;  ///< see keeps_largest(): where all are in step, what padding adds is nothing
    double byte_s = 0;          ///< what one byte more in all messages of a step takes, at most; only where padded
};

struct FoldLayout {
    std::vector<std::vector<Section>> sections;  ///< by member
    std::vector<FoldedRing> rings;
};

/// Of `exchange` in iteration `iteration`.
FoldLayout fold_layout(const Exchange& exchange, std::span<const ProcessId> group, std::uint32_t iteration,
                       Wires& wires);

}  // namespace syncline
