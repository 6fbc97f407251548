#pragma once

#include <string>
#include <string_view>

#include "sim/topology/formats.hpp"

namespace syncline::fuzz {

/// Reads a graph as a fabric and as an overlay, which is written as text that can be read again.
inline void read_graph(const std::string& file_name, std::string_view input, std::string write(const Topology&)) {
    for (const Use use : {Use::fabric, Use::overlay}) {
        Topology topology;
        try {
            topology = make_topology(parse_graph(file_name, std::string(input)), use);
        } catch (const TopologyError&) {
            continue;
        }
        make_topology(parse_graph(file_name, write(topology)), use);
    }
}

}  // namespace syncline::fuzz
