#pragma once

#include <optional>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Closed forms of collectives over a transport, for the cases in which they are exact.
///
/// If every member of a group takes the same steps, and sends and receives one message in each, no two messages share a
/// link and none waits for another's overhead. A message of n bytes then takes
///   send overhead + query + n·max(β, 1/cap) + α + latency + receive overhead + query,
/// so the algorithm's own closed form applies with a different α and β, plus `launch` and copies of the whole buffer. A
/// protocol adds its latency to α, adds its launch, and divides the bandwidth part by its factor.
/// There is no closed form for other algorithms (a tree's parent handles its children's messages one after the other),
/// for bandwidths by size, copies of messages, kernel launches in steps, or ranks of which some share a node if
/// messages inside a node have different terms. The total send rate of a node is part of the wiring (see Wiring), and γ
/// is given by the caller.
namespace syncline {

/// Returns true if all members take the same steps, each with one message to and one from members in the same step.
/// They then end together.
bool in_step(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes);

/// Returns true if the transport only limits the send rate of a node and sets γ, but adds nothing else to messages and
/// collectives.
bool wires_only(const Transport& transport);

/// Returns the seconds until the last of the ranks at `places` ends, or empty without a closed form. `wires` is the
/// cost of a message without the transport.
std::optional<double> carried_cost(const Cluster& cluster, const std::vector<Place>& places,
                                   const CollectiveAlgorithm& algorithm, std::uint64_t bytes, const MessageCost& wires,
                                   const Protocol& protocol = {});

}  // namespace syncline
