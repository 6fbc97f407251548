#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/collective/in_network.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

namespace syncline {

/// Returns the time of an in-network all-reduce. If hop i from a rank to the topmost switch takes α_i + c·β_i for a
/// segment of c bytes, the last of m segments is back after
///     2·Σ(α_i + c·β_i) + (m-1)·c·max β_i;
/// if latency blocks and all h hops are equal, after (m + 2h - 1)(α + c·β). Nothing if messages share a link, if hops
/// of two ranks or segments differ, if paths depend on the load, or with software costs or other network models.
std::optional<double> switched_cost(const Cluster& cluster, const std::vector<Place>& places,
                                    const InNetwork& algorithm, std::uint64_t bytes);

}  // namespace syncline
