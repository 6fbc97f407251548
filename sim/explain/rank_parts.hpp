#pragma once

#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/names.hpp"
#include "sim/explain/recorded.hpp"

/// What ranks do in the window, and for what.
///
/// At each instant a rank does the first of these that it does at all: compute; communicate (a message to it or from it
/// flows or has its latency, or it pays an overhead); reduce; copy; wait for the others of an exchange; nothing. Where
/// only tasks are recorded, an exchange is waiting until its last member has come, then communication. A rank's
/// parameter server, on a host of its own, does not count.
namespace syncline {

/// By rank.
std::vector<RankParts> rank_parts(const Recorded& recorded, std::uint32_t ranks);

/// Of one rank: by layer in forward order, those that it computes.
std::vector<LayerParts> layer_parts(const Recorded& recorded, ProcessId rank, const Model& model);

/// Of one rank: by what it exchanges, in the order in which they begin.
std::vector<BucketParts> bucket_parts(const Recorded& recorded, ProcessId rank, const Names& names);

}  // namespace syncline
