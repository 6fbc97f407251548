#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/document/document.hpp"
#include "sim/import/findings.hpp"

namespace syncline::config {

/// A network that a foreign file lists cable by cable, as keys of a fabric with the shape `graph`.
class CableList {
public:
    using Vertex = std::uint32_t;

    /// Hosts keep the order in which they are added.
    Vertex add_host(std::string name) { return add({std::move(name), false}); }
    Vertex add_switch(std::string name) { return add({std::move(name), true}); }
    /// A bandwidth of 0 is not known. Cables beside another one add to its bandwidth; all have the first one's latency.
    void add_cable(Vertex a, Vertex b, double bandwidth_Bps, double latency_s, const Mark& mark);

    std::size_t cables() const { return cables_.size(); }
    /// Returns the keys. The wires of most cables are those of the topology. Notes parallel cables.
    Node fabric(const Mark& mark, Findings& findings);

private:
    struct Named {
        std::string name;
        bool is_switch;
    };
    struct Cable {
        Vertex from, to;
        double bandwidth_Bps, latency_s;
        Mark mark;
        std::int64_t parallel = 1;
    };

    Vertex add(Named vertex) {
        vertices_.push_back(std::move(vertex));
        return static_cast<Vertex>(vertices_.size() - 1);
    }
    void number_hosts(Findings& findings);

    std::vector<Named> vertices_;
    std::vector<Cable> cables_;
    std::map<std::pair<Vertex, Vertex>, std::size_t> cable_of_;  ///< by the lower and the higher end
};

/// Return quantities as people write them: "400 Gbps", "25 ns"; no latency is "none".
std::string bandwidth_text(double bandwidth_Bps);
std::string latency_text(double latency_s);

}  // namespace syncline::config
