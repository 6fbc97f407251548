#pragma once

#include <boost/graph/adjacency_list.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/// A topology is a graph of hosts and switches, and nothing else.
///
/// The same type serves twice: as a **fabric**, the wires of a platform, and as an **overlay**, which says who
/// exchanges with whom. An edge of the graph is one direction of a cable: a full-duplex cable is two edges, and a
/// one-way connection, which an overlay may have, is one.
namespace syncline {

enum class VertexKind : std::uint8_t { host, crossbar };

struct Vertex {
    std::string name;  ///< unique: "host-3", "leaf-0", or as the user called it
    VertexKind kind = VertexKind::host;
    std::uint32_t level = 0;  ///< for pictures: 0 for hosts, 1 for the switches next to them, and so on
};

/// What a cable can do, in each direction. Of no account in an overlay.
struct Wire {
    double bandwidth_Bps = 0;
    double latency_s = 0;
};

struct Arc {
    Wire wire;
    std::uint32_t cable = 0;  ///< both directions of a cable have the same number
};

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Vertex, Arc>;

struct Topology {
    std::string name;
    Graph graph;              ///< vertices 0 … hosts-1 are the hosts, those behind them the switches
    std::uint32_t hosts = 0;  ///< in a fabric network ports (NICs), in an overlay ranks
    std::uint32_t cables = 0;
    /// Of a fat tree, by level from the hosts up: how many parents a vertex has. Empty elsewhere.
    std::vector<std::uint32_t> parents;

    /// The next host or switch. All hosts come before the first switch; throws std::logic_error otherwise.
    std::uint32_t add_host(std::string vertex_name);
    std::uint32_t add_switch(std::string vertex_name, std::uint32_t level);
    /// A full-duplex cable; several between the same two are several cables.
    void add_cable(std::uint32_t a, std::uint32_t b, const Wire& wire);
    /// A cable that works in one direction only.
    void add_one_way(std::uint32_t from, std::uint32_t to, const Wire& wire);

    std::uint32_t vertices() const { return static_cast<std::uint32_t>(boost::num_vertices(graph)); }
    bool directed() const;  ///< some connection has no way back
};

/// Parameters or a file that make no topology. `key` is the key of the topology's description that is to blame, if one
/// is.
class TopologyError : public std::runtime_error {
public:
    TopologyError(std::string blamed, const std::string& message, std::string advice = "")
        : std::runtime_error(message), key(std::move(blamed)), hint(std::move(advice)) {}
    std::string key, hint;
};

/// Throws TopologyError unless every host can reach every other one; names two that cannot.
void require_connected(const Topology& topology);

}  // namespace syncline
