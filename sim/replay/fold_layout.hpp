#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/replay/lanes.hpp"
#include "sim/replay/symmetry.hpp"
#include "sim/replay/wires.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// The parts of an exchange that can be folded (folding.hpp): its members' programs, cut into sections.
///
/// A section is a run of equal steps (runs.hpp) or the steps between two runs. The j-th runs of several members form a
/// ring if their messages go to each other and they have the same number of steps. If all members' programs consist
/// only of runs of the same lengths, the j-th runs of all members form one ring, because the rings among them may have
/// links in common and stay in step.
///
/// Lanes of a member are members of their own here, whose messages go to the same lane of others.
///
/// Blocks that differ by a byte keep the steps of a ring from being equal. In groups of up to `exact_members` such a
/// ring is not folded. In larger groups all its blocks count as the largest, if no two messages of a step share a
/// resource and no other exchange can be in flight: then each message takes its own time whatever the others do, and
/// the ring takes at most the time of one byte longer for each step. (If messages share links, blocks of other sizes
/// may put them out of step, and change which messages share a link: errors of a fifth were seen.)
///
/// Members gather, that is, begin a ring together, under these conditions: no other exchange can be in flight, nothing
/// is shared, each member sends to one and receives from one, all of them form one cycle, and the steps are enough for
/// every member to have waited for the last one, however far away. If all messages have the same rate and latency, and
/// every step has the latency, such a ring ends at the same time as if early members had begun early: when the last
/// member has done all steps. Otherwise (also if latency travels, so that a late member's messages wait for it) it or
/// some members may end later by the time between the first and the last arrival, and members gather only in groups of
/// more than `exact_members`. Other rings are folded when their members are found to be in step, or all of them as far
/// from each other as before.
///
/// Members that arrive early would start concurrently with the earlier work of others. If pairs are alike, that work
/// uses other links; otherwise the links are watched.
///
/// If the end of the exchange decides something, such as the next exchange or the tick of a release, a small delay may
/// become a large one: in that case only exact folding is done.
namespace syncline {

inline constexpr std::uint32_t exact_members = 128;

struct RingSection {
    static constexpr std::uint32_t no_ring = ~std::uint32_t{0};

    std::uint32_t taken = 0;       ///< number of steps
    std::uint32_t ring = no_ring;  ///< in FoldLayout::rings
    /// Links and copy engines that its messages share, each once.
    std::vector<std::uint32_t> uses;
    bool uses_all = false;  ///< in place of `uses`: its peers turn through the whole fabric
};

struct FoldedRing {
    std::uint32_t members = 0;  ///< those that are simulated
    std::uint32_t steps = 0;
    bool lone = true;           ///< no two messages of a step share a resource
    bool uniform = true;        ///< all messages have the same bytes, rate and latency
    bool overtakes = false;     ///< a member whose messages have arrived already takes less time for a step
    bool padded = false;        ///< all blocks count as the largest
    bool joined = true;         ///< each sends to one and receives from one, and all form one cycle
    bool whole = true;          ///< it has the representatives of all its members: see symmetry.hpp
    bool gathers = false;       ///< its members begin together
    bool alike = false;         ///< a member's messages share no resource with earlier work of others
    bool delays = false;        ///< gathering may make it end later
    bool keeps_largest = true;  ///< see keeps_largest(): padding adds nothing if all are in step
    double byte_s = 0;          ///< maximum time of one more byte in all messages of a step; if padded
};

struct FoldLayout {
    /// By place: lane l of member m is at m·lanes + l. Empty for members that others represent (symmetry.hpp).
    std::vector<std::vector<RingSection>> sections;
    std::vector<FoldedRing> rings;
};

/// Conditions around an exchange.
struct Surroundings {
    bool sole = false;  ///< no other exchange can be in flight at the same time
    bool calm = false;  ///< its end decides nothing else
};

/// Returns the layout of `exchange` in iteration `iteration`.
FoldLayout fold_layout(const Exchange& exchange, std::span<const ProcessId> group, std::uint32_t iteration,
                       Surroundings around, Wires& wires, const Symmetry* symmetry, const Lanes& lanes);

}  // namespace syncline
