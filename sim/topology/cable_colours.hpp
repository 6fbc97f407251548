#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/topology/shape.hpp"

namespace syncline {

/// Colours of cables in to_svg: cables of one kind (a level, a dimension, a distance) share a colour.
struct CableColours {
    struct Kind {
        std::string colour, label;
    };
    std::vector<Kind> kinds;
    std::vector<std::size_t> of_cable;  ///< indices of `kinds`
};

CableColours colour_cables(const TopologySpec& spec, const Topology& topology);

}  // namespace syncline
