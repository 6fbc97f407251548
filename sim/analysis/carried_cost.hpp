#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/in_network.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Closed forms of collectives over a transport, where they are exact: if every member takes the same steps, with one
/// message sent and received in each, and no two messages share a link or wait for another's overhead, a message of
/// n bytes takes
///   send overhead + query + n·max(β, 1/cap) + α + latency + receive overhead + query,
/// so the algorithm's own closed form applies with a different α and β, plus `launch` and copies of the whole buffer.
/// The bandwidth part is divided by the share of data on the wires. A protocol's launch and latency replace the
/// transport's. γ is given by the caller. There is none for other algorithms, bandwidths by size, copies of messages,
/// kernel launches in steps, or groups of which some ranks share a node with other terms.
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

/// Returns the time of an in-network all-reduce. If hop i from a rank to the topmost switch takes α_i + c·β_i for a
/// segment of c bytes, the last of m segments is back after
///     2·Σ(α_i + c·β_i) + (m-1)·c·max β_i;
/// if latency blocks and all h hops are equal, after (m + 2h - 1)(α + c·β). Nothing if messages share a link, if hops
/// of two ranks or segments differ, if paths depend on the load, or with software costs or other network models.
std::optional<double> switched_cost(const Cluster& cluster, const std::vector<Place>& places,
                                    const InNetwork& algorithm, std::uint64_t bytes);

}  // namespace syncline
