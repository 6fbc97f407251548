#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/topology/shape.hpp"

namespace syncline {

/// Cables of one kind have one colour in to_svg: a level, a dimension, a distance.
struct CableColours {
    struct Kind {
        std::string colour, label;
    };
    std::vector<Kind> kinds;
    std::vector<std::size_t> of_cable;  ///< indices of `kinds`
};

CableColours colour_cables(const TopologySpec& spec, const Topology& topology);

}  // namespace syncline
