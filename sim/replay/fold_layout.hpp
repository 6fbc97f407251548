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
/// Blocks that differ by a byte keep the steps of a ring from being equal. In groups of up to `exact_members` such a
/// ring is not folded. In larger ones all its blocks count as the largest, if no two messages of a step share anything,
/// and no other exchange can be under way: then each takes what it takes, whatever the others do, and the ring at most
/// a byte longer for each step. (Where messages share links, blocks of other sizes may put them out of step, and shift
/// who shares with whom: seen, a fifth.)
///
/// Whether members gather, and begin a ring together: where no other exchange can be under way, nothing is shared, each
/// sends to one and receives from one, all of them in one circle, and the steps are enough for everyone to have waited
/// for the last one, however far. If all messages have the same rate and latency, such a ring ends when it would if
/// those who come early had begun early: when the last one is through that many steps. If not, it may end later by what
/// the last came after the first, and members gather in groups of more than `exact_members` only. Elsewhere rings fold
/// when their members are found to be in step, or all of them as far from each other as before.
///
/// Members that are early would begin beside what others still do before they come. Where pairs are alike that uses
/// other links; elsewhere it is watched whether it does.
///
/// Where something is decided by when it ends, which exchange goes next or at which tick it leaves, a little too late
/// may be much too late: there nothing is done that is not exact.
namespace syncline {

inline constexpr std::uint32_t exact_members = 128;

struct Section {
    static constexpr std::uint32_t no_ring = ~std::uint32_t{0};

    std::uint32_t taken = 0;       ///< steps
    std::uint32_t ring = no_ring;  ///< in FoldLayout::rings
    /// Links and copy engines that what it sends takes something of, each once.
    std::vector<std::uint32_t> uses;
    bool uses_all = false;  ///< in place of these: its peers turn all over the fabric
};

struct FoldedRing {
    std::uint32_t members = 0;
    std::uint32_t steps = 0;
    bool lone = true;           ///< no two of a step's messages share anything
    bool uniform = true;        ///< all messages have the same bytes, rate and latency
    bool padded = false;        ///< all blocks count as the largest
    bool joined = true;         ///< each sends to one and receives from one, and all are in one circle
    bool gathers = false;       ///< its members begin together
    bool alike = false;         ///< what a member sends shares nothing with what others still do before they come
    bool delays = false;        ///< which may make it end later
    bool keeps_largest = true;  ///< see keeps_largest(): where all are in step, what padding adds is nothing
    double byte_s = 0;          ///< what one byte more in all messages of a step takes, at most; only where padded
};

struct FoldLayout {
    std::vector<std::vector<Section>> sections;  ///< by member
    std::vector<FoldedRing> rings;
};

/// What is around an exchange.
struct Surroundings {
    bool sole = false;  ///< no other can be under way beside it
    bool calm = false;  ///< nothing is decided by when it ends
};

/// Of `exchange` in iteration `iteration`.
FoldLayout fold_layout(const Exchange& exchange, std::span<const ProcessId> group, std::uint32_t iteration,
                       Surroundings around, Wires& wires);

}  // namespace syncline
