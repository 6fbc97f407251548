#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/replay/lanes.hpp"
#include "sim/replay/symmetry.hpp"
#include "sim/replay/wires.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// The rings of an exchange, whose steps may be folded (ring_folding.hpp).
///
/// An exchange consists of rings if the programs of all members are made of runs of equal steps (runs.hpp), the j-th
/// runs have the same number of steps, and messages of the j-th run are received in the j-th run of their receiver. The
/// j-th runs of all members are one ring. Peers may turn, as in a pairwise all-to-all, if all pairs of members have
/// equal connections. Lanes of a member count as members, whose messages go to the same lane of others.
///
/// Blocks that differ by a byte keep steps from being equal. In groups of up to `exact_members` such an exchange is
/// not folded. In larger groups it is padded: all its blocks count as the largest, if no two messages of a step share a
/// resource. Then each message takes its own time whatever the others do, and a ring takes at most the time of one byte
/// longer for each step. (If messages share links, blocks of other sizes may put them out of step, and change which
/// messages share a link: errors of a fifth were seen.) If the end of the exchange decides something, such as the next
/// exchange or the tick of a release, a small delay may become a large one: then nothing is padded.
namespace syncline {

inline constexpr std::uint32_t exact_members = 128;

struct RingLayout {
    struct Ring {
        std::uint32_t steps = 0;
        double byte_s = 0;  ///< maximum time of one more byte in all messages of a step; if padded
    };
    std::vector<Ring> rings;    ///< one after the other
    std::uint32_t members = 0;  ///< lanes of members that are simulated
    bool padded = false;        ///< all blocks count as the largest
};

/// Returns the rings of `exchange`; nothing if it does not consist of rings that may be folded. `symmetry`: null if all
/// members are simulated. `may_pad`: its end decides nothing.
std::optional<RingLayout> ring_layout(const Exchange& exchange, std::span<const ProcessId> group, bool may_pad,
                                      const Wires& wires, const Symmetry* symmetry, const Lanes& lanes);

}  // namespace syncline
