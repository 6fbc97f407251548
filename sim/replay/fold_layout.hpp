#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/replay/wires.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Which parts of an exchange can be folded (folding.hpp): its members' programs, cut into sections.
///
/// A section is a run of equal steps (runs.hpp) or what stands between two. The j-th runs of several members are one
/// ring if their messages go to each other, and take as many steps. A run whose steps are too few for the slowest
/// member to hold up all others, half as many as there are members, is none: its members need not begin together. Where
/// all members' programs are nothing but runs of the same lengths, the j-th of all are one ring, since the rings among
/// them may have links in common and keep in step.
///
/// Blocks that differ by a byte keep the steps of a ring from being equal. Up to `exact_members` it is then not folded;
/// beyond, all its blocks count as the largest.
namespace syncline {

inline constexpr std::uint32_t exact_members = 128;

struct Section {
    static constexpr std::uint32_t no_ring = ~std::uint32_t{0};

    std::uint32_t taken = 0;           ///< steps
    std::uint32_t ring = no_ring;      ///< in FoldLayout::rings
    std::vector<std::uint32_t> links;  ///< that what it sends goes over, each once
};

struct FoldedRing {
    std::uint32_t members = 0;
    std::uint32_t steps = 0;
    bool padded = false;  ///< all blocks count as the largest
    bool relays = false;  ///< see relays(): in step, what padding adds is nothing
    double byte_s = 0;    ///< what one byte more in all messages of a step takes, at most; only where padded
};

struct FoldLayout {
    std::vector<std::vector<Section>> sections;  ///< by member
    std::vector<FoldedRing> rings;
};

/// Of `exchange` in iteration `iteration`.
FoldLayout fold_layout(const Exchange& exchange, std::span<const ProcessId> group, std::uint32_t iteration,
                       Wires& wires);

}  // namespace syncline
