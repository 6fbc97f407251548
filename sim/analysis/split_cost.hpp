#pragma once

#include "sim/analysis/theory.hpp"

/// Closed form of an iteration of a model that is split between ranks (rows, columns, cells), without stages.
///
/// If nothing overlaps, all nodes are connected to one switch, and every exchange keeps its ranks in step, an iteration
/// is the sum of a rank's activities:
///
///     micro-batches · Σ over layers (forward + backward computation + each exchange of activations) + Σ buckets
///
/// with the times of a rank that has a part of the layer, and the α-β-γ cost of each exchange among the ranks of one
/// group, as in algorithm.hpp, in seconds; the groups of an exchange have disjoint ranks, and so disjoint links. The
/// sum follows A. Castelló et al., "Analysis of model parallelism for distributed neural networks", EuroMPI 2019; its
/// equations are re-derived. `communication_time_s` is the sum of all exchanges.
///
/// In rounds of a layer's core (LayerExchanges) an exchange counts only as far as it takes longer than the computation
/// beside it.
///
/// If a buffer does not divide into equal blocks, some ranks are ahead of the sum by the time of some bytes. The closed
/// form is given if that is less than a millionth of the iteration: if the sums with every buffer rounded up and down
/// to a multiple of its group's size differ by no more. Otherwise there is none, and `formula` says why. There is also
/// none if a layer has fewer parts than rows, with GPipe's order of micro-batches, in which computation of one
/// micro-batch overlaps with exchanges of another, and if ranks with different steps would run ahead (trees, halos
/// between more than two).
namespace syncline {

ClosedForm split_closed_form(const Lowered& training);

}  // namespace syncline
