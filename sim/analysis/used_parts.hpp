#pragma once

#include <cstdint>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Parts of a cluster that a job uses, so that it stops if one of them fails.
///
/// Devices are its ranks' own; nodes have ranks or servers. Cables and switches of the fabric are those on shortest
/// paths, by the number of cables, between ports of its ranks: all of them where several are equally short, since
/// flows are spread over them. A job on one node uses no fabric. Left out: paths between a server and a rank, and
/// detours; switches that stand for several, as in rails whose spine is one switch, count once.
namespace syncline {

struct UsedParts {
    std::int64_t devices = 0, nodes = 0;
    std::int64_t switches = 0, links = 0;  ///< of the fabric
};

/// Returns the mean time between failures of any of these parts, in seconds; infinite if none fails.
double mtbf_s(const PartFailures& failures, const UsedParts& parts);

/// Returns the parts that ranks at these places use. `nodes`: with those of servers alone. The fabric is only looked at
/// if its parts fail.
UsedParts used_parts(const Cluster& cluster, const std::vector<Place>& places, std::int64_t nodes);

}  // namespace syncline
