#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "sim/replay/simulator.hpp"
#include "sim/replay/wires.hpp"
#include "sim/taskgraph/rotations.hpp"

/// Images of links under rotations of processes: see symmetry.hpp, which says what is averaged.
///
/// Rotations move processes, and messages with them. A rotation has images of links if each link on the route of a
/// message is moved to one link, of equal bandwidth and latency, on the route of the image. Then the links fall into
/// orbits, those that the rotations take to each other, of which one link is simulated each. The size of an orbit
/// divides the number of images. A route may have several links of one orbit.
///
/// Time and memory: O(images · routes) and O(images).
namespace syncline {

inline constexpr std::uint32_t no_image = ~std::uint32_t{0};

/// Sets the image of a link or a node unless it is set. Returns true if it then is `found`.
inline bool learn_image(std::uint32_t& image, std::uint32_t found) {
    if (image == no_image) image = found;
    return image == found;
}

struct LinkImages {
    std::vector<std::uint32_t> links;  ///< by link: see Wires::represent()
    Wires::PassedWays passed;          ///< empty unless latencies are averaged
    double spread_s = 0;               ///< largest difference of latency that is averaged
};

using PairSet = std::unordered_set<Pair, Pair::Hash>;

/// Returns the images of the links on the routes of `pairs`, the messages of processes that stand for others, if there
/// are images. `average`: routes count without the links in the middle, if these restrict nothing.
std::optional<LinkImages> find_link_images(const Wires& wires, const PairSet& pairs, const Rotations& rotations,
                                           bool average);

}  // namespace syncline
