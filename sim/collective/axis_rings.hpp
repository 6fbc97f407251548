#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// Rings along the axes of a grid of members, such as a torus: a channel for each axis and direction.
///
/// Channel c has the c-th of 2d parts of the buffer, for d axes of k1 … kd members. It reduces and scatters along one
/// axis after the other, beginning with axis c mod d, in rings of one direction, as a hierarchical all-reduce does, and
/// gathers on the way back. So each channel uses another axis and direction at any time, and if all axes are of k
/// members, no two channels share a cable of a torus k^d, where each message is a hop. The all-reduce then takes
///
///     Σ_j 2(k-1)(α + c_j·β) + (k-1)·c_j·γ·2d,  c_j = S/(2d·k^j),  j = 1 … d:  2(N-1)/N·S·β/2d for long messages,
///
/// the least time for 2d links of a member. (A device reduces in all channels, each at a 2d-th of its rate.) Rings in
/// both directions of axes of 2 members would share their cables, so if no axis is longer there are d channels.
/// Reduce-scatter and allgather are half of it each.
///
/// Sources: P. Sack, W. Gropp, "Collective algorithms for multiported torus networks", ACM TOPC 1 (2015); N. Jain, Y.
/// Sabharwal, "Optimal bucket algorithms for large MPI collectives on torus interconnects", ICS 2010. Left out:
/// channels of different sizes, which would balance axes of different lengths; other patterns for small buffers.
namespace syncline {

/// Members as a grid: member[Σ x_i·(k_1…k_{i-1})] is the one with coordinates x.
struct MemberGrid {
    std::vector<std::uint32_t> sizes;   ///< of the axes, each at least 2; empty: a single member
    std::vector<std::uint32_t> member;  ///< by place in the grid

    /// Returns the number of channels.
    std::uint32_t channels() const;
};

/// Returns the `operation` (allreduce, reduce-scatter or allgather) along the axes of this grid. It has a closed form
/// if all axes are of k members: as for every algorithm on one switch, whose links all channels share, so that β is 2d
/// times that of a torus.
std::shared_ptr<const CollectiveAlgorithm> axis_rings(const std::string& operation, MemberGrid grid);

/// Returns the grid of an algorithm made by axis_rings(); null for any other.
const MemberGrid* grid_of(const CollectiveAlgorithm& algorithm);

}  // namespace syncline
