#pragma once

#include "sim/analysis/theory.hpp"

/// The closed form of an iteration of a model that ranks share (rows, columns, cells), without stages.
///
/// Where nothing overlaps, nodes hang on one switch, and every exchange keeps its ranks in step, an iteration is the
/// sum of what a rank does:
///
///     micro-batches · Σ over layers (forward + backward computation + each exchange of activations) + Σ buckets
///
/// with the times of a rank that has a part of the layer, and the cost of each exchange among the ranks of one group,
/// α-β-γ as in algorithm.hpp; groups of an exchange share no rank, and so no link. Seconds. A. Castelló et al.,
/// "Analysis of model parallelism for distributed neural networks", EuroMPI 2019, sums in this way; its equations are
/// re-derived. `communication_time_s` is the sum of all exchanges.
///
/// Where a buffer does not divide into equal blocks, some ranks are ahead of the sum by the time of some bytes. It is
/// given if it is less than a millionth of the iteration: if the sums with every buffer rounded up and down to a
/// multiple of its group differ by no more. Otherwise there is none, and `formula` says why; so also where a layer has
/// fewer parts than there are rows, with GPipe's order of micro-batches, which puts one's computation beside another's
/// exchange, and where ranks that take different steps would run ahead (trees, halos between
/// more than two).
namespace syncline {

ClosedForm split_closed_form(const Lowered& training);

}  // namespace syncline
