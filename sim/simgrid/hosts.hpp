#pragma once

#include <cstdint>
#include <vector>

#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>

#include "sim/replay/engine.hpp"
#include "sim/replay/simulator.hpp"
#include "sim/replay/wires.hpp"

/// A cluster's places as SimGrid's hosts, for the network models that are SimGrid's own. SimGrid asks a zone of ours
/// for the route of each message (routed_zone.hpp), so no table is built. A host is a place; if routes depend on the
/// channel, one process and channel. If latency is time in which streams sleep (Wires::streams_wait()), SimGrid's links
/// have none: it would share links in proportion to 1/latency, and if several messages complete their latency at the
/// same instant, its lazy solver (3.32) forgets the links of all but the first.
namespace syncline {

/// Chooses SimGrid's network model; must be called before the engine's first zone is created.
void configure_network(const SimGridEngine::Settings& settings);

class Hosts {
public:
    /// Builds the hosts and links of a modelled cluster, or takes those of a native platform.
    explicit Hosts(Wires& wires);

    /// Returns the host of a process while it sends or receives on a channel.
    simgrid::s4u::Host* of(ProcessId process, std::uint32_t channel) const {
        return hosts_[by_channel_ ? process * channels_ + channel : process];
    }
    const Wires& wires() const { return wires_; }
    /// Changes the rate of a link that has faults (Wires::link_rates()), by its place in that list. SimGrid bounds a
    /// message by the bandwidths that its links have when it starts, so that these stay, and the solver asks for what
    /// there is of them.
    void set_rate(std::size_t faulty, double rate);
    /// Moves the calling actor, one of `process`, to the host from which it sends or receives on a channel.
    void move(ProcessId process, std::uint32_t channel) const;

private:
    const Wires& wires_;
    std::vector<double> rates_;                // by link with faults
    std::vector<simgrid::s4u::Link*> faulty_;  // these links
    const bool by_channel_;
    const std::uint32_t channels_;
    std::vector<simgrid::s4u::Host*> hosts_;  // by process, or by process and channel
};

/// Returns SimGrid's network models for the programs of lanes (actor_simulator.cpp), never to be freed. `processes`: by
/// lane.
Simulator* actor_simulator(Hosts& hosts, std::vector<ProcessId> processes);

}  // namespace syncline
