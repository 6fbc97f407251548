#pragma once

#include <optional>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Closed forms of collectives over a transport, where they are exact: if every member takes the same steps, with one
/// message sent and received in each, and no two messages share a link or wait for another's overhead, a message of
/// n bytes takes
///   send overhead + query + n·max(β, 1/cap) + α + latency + receive overhead + query,
/// so the algorithm's own closed form applies with a different α and β, plus `launch` and copies of the whole buffer. A
/// protocol adds its latency to α and its launch, and divides the bandwidth part by its factor. γ is given by the
/// caller. There is none for other algorithms, bandwidths by size, copies of messages, kernel launches in steps, or
/// groups of which some ranks share a node with other terms.
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
