#pragma once

#include <cstdint>
#include <vector>

#include "sim/training/parallelism.hpp"

/// Which layers a stage of a pipeline has, and in which order it computes.
///
/// With m micro-batches of equal stages, whose forward and backward pass take f and b, nothing to transfer and v chunks
/// on each of p stages, an iteration takes m(f + b) + (p-1)(f + b)/v on every stage: the bubble is (p-1)/(v·m + p-1) of
/// it, and v = 1 for gpipe and one_f_one_b (D. Narayanan et al., SC 2021).
namespace syncline {

/// One pass of one micro-batch through one chunk of a stage.
struct Slot {
    std::uint32_t chunk = 0;
    std::uint32_t micro_batch = 0;
    bool forward = true;
    bool operator==(const Slot&) const = default;
};

/// The order in which `stage` takes its passes: each chunk's forward and backward pass of every micro-batch once. One
/// that waits for another stage delays those behind it. Interleaved schedules need micro_batches to be a multiple of
/// the stages, and throw std::logic_error otherwise.
std::vector<Slot> slots(const Pipeline& pipeline, std::uint32_t stage);

/// How many micro-batches (of any chunk, each counted as one) `stage` holds activations of at most: between the start
/// of a forward pass and the end of the backward pass that goes with it.
std::uint32_t peak_passes(const Pipeline& pipeline, std::uint32_t stage);

/// Cuts a chain of layers into so many parts, none of them empty if there are as many layers, such that the largest sum
/// of `costs` of a part is least; of the cuts that are equally good the one whose first parts are shortest. How many
/// layers each part has. Optimal, by dynamic programming in O(parts · layers²) or better.
std::vector<std::int64_t> balance(const std::vector<double>& costs, std::uint32_t parts);

}  // namespace syncline
