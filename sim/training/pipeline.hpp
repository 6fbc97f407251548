#pragma once

#include <cstdint>
#include <vector>

#include "sim/training/parallelism.hpp"

/// Which layers a stage of a pipeline has, and in which order it computes.
///
/// With m micro-batches of equal stages, whose forward and backward pass take f and b, nothing to transfer and v chunks
/// on each of p stages, an iteration takes m(f + b) + (p-1)(f + b)/v on every stage: the bubble is (p-1)/(v·m + p-1) of
/// it, and v = 1 for gpipe and one_f_one_b (D. Narayanan et al., SC 2021).
///
/// gpipe takes the backward passes in the order of the forward ones, as PyTorch's ScheduleGPipe does. The order in the
/// figure of the paper, last micro-batch first, takes as long, as all micro-batches are alike.
///
/// one_f_one_b and interleaved take some forward passes (the warm-up), then a forward and a backward pass in turn, and
/// at last the backward passes that are left. The warm-up of stage s is p-1-s forward passes, and 2(p-1-s) + (v-1)p
/// with v > 1 chunks, or as many as there are: get_pp_rank_microbatches in megatron/core/pipeline_parallel/schedules.py
/// of Megatron-LM. Interleaved stages take p micro-batches through their first chunk, the same ones through the second,
/// up to the last, and then the next p; backward passes likewise, from the last chunk to the first. With one chunk that
/// is one_f_one_b.
///
/// Left out: groups of more than p micro-batches (microbatch_group_size_per_vp_stage), and with them micro-batches that
/// are no multiple of p.
namespace syncline {

/// One pass of one micro-batch through one chunk of a stage.
struct Slot {
    std::uint32_t chunk = 0;
    std::uint32_t micro_batch = 0;
    bool forward = true;
    bool operator==(const Slot&) const = default;
};

/// The order in which `stage` takes its passes: each chunk's forward and backward pass of every micro-batch once. One
/// that waits for another stage delays those behind it. Throws std::logic_error without such a stage, micro-batches or
/// chunks; where a schedule that is not interleaved has several chunks; and where one that is has micro_batches that
/// are no multiple of the stages.
std::vector<Slot> slots(const Pipeline& pipeline, std::uint32_t stage);

/// How many micro-batches (of any chunk, each counted as one) `stage` holds activations of at most: between the start
/// of a forward pass and the end of the backward pass that goes with it. Throws as slots() does.
std::uint32_t peak_passes(const Pipeline& pipeline, std::uint32_t stage);

/// Cuts a chain of layers into so many parts, none of them empty, such that the largest sum of `costs` of a part is
/// least; of the cuts that are equally good the one whose first parts are shortest. How many layers each part has.
/// Costs are of any unit, from 0 on. Sums that differ by less than 1e-9 of the least count as equal, so that rounding
/// decides nothing. Throws std::logic_error with fewer layers than parts, no parts, or costs, or a sum of them, that
/// are negative or not finite.
///
/// Optimal, by dynamic programming in O(parts · layers · log layers). What is least is the slowest part, not the
/// slowest stage: with several chunks a stage has the sum of several parts.
std::vector<std::int64_t> balance(const std::vector<double>& costs, std::uint32_t parts);

}  // namespace syncline
