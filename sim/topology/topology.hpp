#pragma once

#include <boost/graph/adjacency_list.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/// A topology is a graph of hosts and switches: a **fabric**, the wires of a platform, or an **overlay**, the
/// communication pattern of ranks. An edge is one direction of a cable: a full-duplex cable is two edges, a one-way
/// connection of an overlay one.
namespace syncline {

enum class VertexKind : std::uint8_t { host, crossbar };

struct Vertex {
    std::string name;  ///< unique: "host-3", "leaf-0", or the user's name
    VertexKind kind = VertexKind::host;
    std::uint32_t level = 0;  ///< for pictures: 0 for hosts, 1 for the switches next to them, and so on
};

/// Capacity of a cable, in each direction. Ignored in an overlay.
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
    Graph graph;              ///< vertices 0 … hosts-1 are the hosts, the others are switches
    std::uint32_t hosts = 0;  ///< in a fabric network ports (NICs), in an overlay ranks
    std::uint32_t cables = 0;
    /// Fat trees only: number of parents of a vertex, by level from the hosts up.
    std::vector<std::uint32_t> parents;
    /// Tori, rings, hypercubes and the like only: sizes of the cycles of which the graph is a product, as in
    /// cyclic_factors(). Host numbers are digits to these bases, the first counts fastest; if all move by the same
    /// digits, each cable comes to an equal one.
    std::vector<std::uint32_t> cycles;
    bool circular = false;  ///< equally short paths are directions around a ring, or dimensions of a torus
    /// Dragonflies only: by vertex, the group of a router or of a host's router. A minimal route crosses one cable
    /// between groups at most.
    std::vector<std::uint32_t> groups;

    /// Rails without spines only: number of networks without a path between them. Host i is in network i mod parts.
    std::uint32_t parts = 1;

    /// Adds a host or switch. All hosts must be added before the first switch; throws std::logic_error otherwise.
    std::uint32_t add_host(std::string vertex_name);
    std::uint32_t add_switch(std::string vertex_name, std::uint32_t level);
    /// Adds a full-duplex cable; repeated calls for the same two vertices add parallel cables.
    void add_cable(std::uint32_t a, std::uint32_t b, const Wire& wire);
    /// Adds a cable that works in one direction only.
    void add_one_way(std::uint32_t from, std::uint32_t to, const Wire& wire);

    std::uint32_t vertices() const { return static_cast<std::uint32_t>(boost::num_vertices(graph)); }
    bool directed() const;  ///< some connection is one-way
};

/// Parameters or a file that do not form a topology. `key` is the key of the topology's description to blame, if there
/// is one.
class TopologyError : public std::runtime_error {
public:
    TopologyError(std::string blamed, const std::string& message, std::string advice = "")
        : std::runtime_error(message), key(std::move(blamed)), hint(std::move(advice)) {}
    std::string key, hint;
};

/// Throws TopologyError unless every host can reach every other host; the message names two that cannot.
void require_connected(const Topology& topology);

}  // namespace syncline
