#pragma once

#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/names.hpp"
#include "sim/explain/recorded.hpp"

/// Who used which link when, and what sharing it cost.
///
/// Alone on its way a message of b bytes flows for b / min(narrowest link, what its connection reaches at that size);
/// what it took longer is lost to those it shared links with, and counts for each of them that could be full. A
/// message's bytes are spread evenly over the time in which it flowed: SimGrid's shares may have changed meanwhile.
namespace syncline {

/// The ten with the highest utilisation, that first. With SimGrid's own network models, whose flows have their latency
/// and corrections within, nothing is said to be lost. Where messages are not recorded, there are bytes and utilisation
/// alone.
std::vector<LinkParts> link_parts(const Recorded& recorded, const Names& names, const Cluster& cluster);

}  // namespace syncline
