#pragma once

#include <optional>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Closed forms of collectives that a transport carries, where they are exact.
///
/// Where every member of a group takes the same steps, and in each sends one message and receives one, no two messages
/// share a link and none waits for another's overhead. A message of n bytes then takes
///   send overhead + query + n·max(β, 1/cap) + α + latency + receive overhead + query,
/// so the algorithm's own closed form holds with another α and β; `launch` and copies of the whole buffer come on top.
/// A protocol adds its latency to α and its launch, and divides the bytes by its factor.
/// There is no closed form for other algorithms (a tree's parent handles its children's messages one after the other),
/// nor for bandwidths by size, copies of messages, launches of kernels in steps, and ranks some of which share a node
/// that costs its messages other terms. What a node sends at most in all is a wire's matter (see Wiring), and γ the
/// caller's.
namespace syncline {

/// Whether all members take the same steps, each with one message from and to members that are in the same step: then
/// they end together.
bool in_step(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes);

/// Whether the transport adds nothing to messages and collectives beside such wires and γ.
bool wires_only(const Transport& transport);

/// Seconds until the last of the ranks at `places` is done; `wires`: what a message costs without the transport.
std::optional<double> carried_cost(const Cluster& cluster, const std::vector<Place>& places,
                                   const CollectiveAlgorithm& algorithm, std::uint64_t bytes, const MessageCost& wires,
                                   const Protocol& protocol = {});

}  // namespace syncline
