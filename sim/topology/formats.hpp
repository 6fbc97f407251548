#pragma once

#include <string>
#include <string_view>

#include "sim/topology/shape.hpp"

/// Graphs in the formats of other tools: reading with Boost.Graph; writing for Graphviz, networkx, yEd and browsers.
namespace syncline {

/// Returns true if the name ends like a GraphML or DOT file.
bool is_graph_file(const std::string& file_name);

/// Reads GraphML or DOT (decided by the ending of `file_name`: .graphml, .xml; .dot, .gv) as a spec of shape `graph`. A
/// vertex is a switch if its attribute `kind` is "switch"; edges may have `bandwidth` and `latency`, quantities with a
/// unit ("25 Gbps", "1 us"), or GraphML the speeds of the Internet Topology Zoo: LinkSpeedRaw in bits per second, or
/// LinkSpeed and LinkSpeedUnits ("10", "G"). An edge without a latency between vertices with Latitude and Longitude has
/// that of the shortest way over the sphere at two thirds of light's speed. Undirected graphs and pairs of opposite
/// edges are full-duplex cables; a second undirected edge with its ends in the same order is a parallel cable. Throws
/// TopologyError: not that format, self loops, other duplicate edges, bad quantities, too many edges.
TopologySpec parse_graph(const std::string& file_name, const std::string& text);

/// Returns why `name` cannot be the name of a vertex, nullptr if it can: all formats must be able to hold it, and
/// tables to show it.
const char* problem_of_name(std::string_view name);

std::string to_dot(const Topology& topology);
std::string to_graphml(const Topology& topology);
/// Style of the cables in a picture: distinguished by colour and width, with a legend, or all alike so that the caller
/// can colour them: paths of the class `cable`, in the order of their numbers if there are no more than 50 000.
enum class CableStyle { by_kind, plain };

/// Detail of a picture: every vertex and cable; or, if there are more than 128 hosts or switches, blocks of them, such
/// as "8 racks of 16 hosts", whose numbers are in the attributes data-hosts, data-switches and data-cables (inside the
/// block, or of a bundle between two).
enum class Detail { all, aggregated };

/// Returns a self-contained SVG picture.
std::string to_svg(const TopologySpec& spec, const Topology& topology, CableStyle style = CableStyle::by_kind,
                   Detail detail = Detail::all);

}  // namespace syncline
