#pragma once

#include <string>

#include "sim/topology/shape.hpp"

/// Graphs in the formats of other tools: read with Boost.Graph, written for Graphviz, networkx, yEd and browsers.
namespace syncline {

/// Whether the name's ending is one of GraphML's or DOT's.
bool is_graph_file(const std::string& file_name);

/// Reads GraphML or DOT (told apart by `file_name`'s ending: .graphml, .xml; .dot, .gv) as a spec of shape `graph`.
/// A vertex is a switch if its attribute `kind` is "switch"; edges may have `bandwidth` and `latency`, quantities with
/// a unit ("25 Gbps", "1 us"). Undirected graphs and pairs of opposite edges are full-duplex cables. Throws
/// TopologyError: not that format, self loops, duplicate edges, bad quantities, too many edges.
TopologySpec parse_graph(const std::string& file_name, const std::string& text);

std::string to_dot(const Topology& topology);
std::string to_graphml(const Topology& topology);
/// Cables told apart by colour and width, with a legend, or all alike, for who colours them: paths of the class
/// `cable`, in the order of their numbers where there are no more than 50 000.
enum class CableStyle { by_kind, plain };

/// A picture that a person can read for up to some 256 hosts: self-contained SVG.
std::string to_svg(const TopologySpec& spec, const Topology& topology, CableStyle style = CableStyle::by_kind);

}  // namespace syncline
