#pragma once

#include <string>
#include <vector>

#include "sim/analysis/breakdown.hpp"
#include "sim/lowering/lowered.hpp"

/// What limits an iteration or a collective operation, in the words of sim/planning/answer.hpp. The largest of these
/// parts of its time, the first of equal ones:
///
///     the longest computation of a rank     "matrix products", "memory bandwidth" or "launches", whichever bounds most
///                                           of the layers' time; "computation" if layer times are measured
///     bytes / bandwidth of a link, where    "links in nodes", "ports", "fabric" or "transport"; "port NAME" or
///       it is longest                       "link NAME" if no other cable of this kind comes within 1 % of it
///     the longest reductions on a server    "reductions"
///     the longest copies of a host          "copies"
///     pipeline bubble; waiting              "bubble"; without stages "waiting"
///     exposed communication, or the time    "latency": of links and of the transport, and what else bytes do not
///       of the operation, less the link's   explain, such as launches, reductions of members, and waiting for them
///       in both directions                  with faults: "faults and latency"; of a training whose ranks compute for
///                                           different times by their kinds of nodes: "slower ranks and latency", or
///                                           "faults, slower ranks and latency"
///
/// Both directions, because a server's or a root's port may first receive and then send. Parts overlap, so it is no sum
/// of what other resources would save: that is explain's what-if.
namespace syncline {

/// Returns the words for an iteration, whose links have carried `links`; empty if it takes no time.
std::string limit_of(const Lowered& training, const Breakdown& time, const std::vector<LinkUse>& links);

/// Returns the words for an execution trace, whose computation has recorded times. Waiting is what the bytes of the
/// link do not explain: for other ranks.
std::string limit_of(const Cluster& cluster, const Breakdown& time, const std::vector<LinkUse>& links);

/// Returns the words for an operation, to which `part` of the bytes belong; empty if it takes no time.
std::string limit_of(const Cluster& cluster, double seconds, const std::vector<LinkUse>& links, double part);

}  // namespace syncline
