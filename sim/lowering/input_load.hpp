#pragma once

#include "sim/lowering/lowered.hpp"

/// Reading of an iteration's input from the storage that all nodes share.
///
/// A batch of B samples of b bytes takes L = max(B·b/R, b·B_n/R_n), with the storage's bandwidth R, and R_n of each
/// node, of which the one that reads most reads B_n samples. All ranks of the first stage read at the same time, those
/// of a replica each an equal share, and have read their shares at the same time. A batch is read, copied to the device
/// and computed; it is read as soon as the one `prefetch` + 1 before it is computed. In the steady state an iteration
/// that takes S without reading, with a copy of C that overlaps (otherwise 0), takes
///
///     max(S, L, (S + L + C) / (prefetch + 1)).
///
/// Left out: decoding and other work of the processor, latency and caches of the storage, sharing of links with
/// messages, checkpoints and other jobs that use the storage, labels that the last stage reads.
namespace syncline {

/// Returns L; the plan has Loading, and the cluster the bandwidth of its storage.
double input_load_seconds(const Lowered& training);

/// Returns the time of an iteration that takes `iteration_s` without reading.
double with_input_load(const Lowered& training, double iteration_s);

}  // namespace syncline
