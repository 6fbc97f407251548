#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "sim/replay/simulator.hpp"
#include "sim/replay/wires.hpp"

/// Images of links under a shift of processes: see symmetry.hpp, which says what is averaged.
///
/// The shift moves process i of each block of B processes to place i + k (mod B), and messages with it. It has images
/// of links if each link on the route of a message is moved to one link, of equal bandwidth and latency, on the route
/// of the image. Then the links fall into circles, of which one link is simulated each; their sizes must divide B/k.
///
/// Time: O(B/k · routes).
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

/// Returns the images of the links on the routes of `pairs`, the messages of the first k processes of each block, if
/// there are images. `average`: routes count without the links in the middle, if these restrict nothing.
std::optional<LinkImages> find_link_images(const Wires& wires, const PairSet& pairs, std::uint32_t block,
                                           std::uint32_t period, bool average);

}  // namespace syncline
