#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "sim/topology/aggregate.hpp"
#include "sim/topology/cable_colours.hpp"
#include "sim/topology/formats.hpp"
#include "sim/topology/layout.hpp"

namespace syncline {

/// The content of a picture with its positions and sizes: a topology, or its blocks.
struct Sketch {
    /// `blocks`: null if every vertex is drawn.
    Sketch(const TopologySpec& spec, const Topology& topology, CableStyle style, const CableColours& colours,
           const Aggregate* blocks);

    const TopologySpec& spec;  ///< of the whole
    const Topology& whole;
    const Topology& topology;  ///< that is drawn
    const Aggregate* aggregate;
    CableStyle style;
    GraphLayout layout;
    CableEnds ends;               ///< of the drawn cables
    const CableColours& colours;  ///< of the whole's cables
    std::vector<Wire> wires;      ///< of the whole's cables
    std::set<double> bandwidths;
    double host_radius = 0, switch_half = 0, font = 0;
    std::uint32_t drawn_every = 1;  ///< cables

    /// Returns the whole's cable that a drawn one is, or the first of those that it stands for.
    std::uint32_t whole_cable(std::uint32_t cable) const {
        return aggregate != nullptr ? aggregate->bundles[cable].first : cable;
    }

    /// Returns the height of the arc of a cable between vertices of one level, which would run through those between
    /// them; 0: the cable is straight.
    double bow(std::uint32_t from, std::uint32_t to) const;
    /// Returns the width of the line of a cable.
    double width(const Wire& wire) const;
};

/// Returns the elements of the cables, of the class "cable".
std::string cables_svg(const Sketch& sketch);

/// Returns "1 host", "2 hosts".
inline std::string counted_as(std::size_t number, const char* one, const char* many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

}  // namespace syncline
