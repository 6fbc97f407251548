#pragma once

#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/recorded.hpp"
#include "sim/explain/task_names.hpp"

/// Users of links over time, and the cost of sharing links. Alone on its route, a message of b bytes flows for b /
/// min(bandwidth of the narrowest link, limit of its connection at that size); additional time is lost to sharing and
/// counts for each link of the route that can be shared. A message's bytes are spread evenly over its transfer time.
namespace syncline {

/// Returns the ten most utilised links, the most utilised first. Lost time is 0 with SimGrid's own network models,
/// whose flows include latency and corrections. If messages are not recorded, only bytes and utilisation are known.
std::vector<LinkParts> link_parts(const Recorded& recorded, const TaskNames& names, const Cluster& cluster);

}  // namespace syncline
