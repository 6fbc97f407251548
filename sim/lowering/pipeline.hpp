#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/plan/parallelism.hpp"

/// Order of the passes of a pipeline's stages.
///
/// With m microbatches, equal stages whose forward and backward passes take f and b, free transfers and v virtual
/// stages on each of p stages, an iteration takes m(f + b) + (p-1)(f + b)/v on every stage: the bubble is (p-1)/(v·m +
/// p-1) of it, with v = 1 for gpipe and one_f_one_b (D. Narayanan et al., SC 2021).
///
/// gpipe runs the backward passes in the order of the forward passes, like PyTorch's ScheduleGPipe. one_f_one_b and
/// interleaved run some forward passes (the warm-up), then a forward and a backward pass in turn, and finally the
/// remaining backward passes. The warm-up of stage s is p-1-s forward passes, and 2(p-1-s) + (v-1)p with v > 1 virtual
/// stages, or all that there are (Megatron-LM, get_pp_rank_microbatches in
/// megatron/core/pipeline_parallel/schedules.py). Interleaved stages run p microbatches through each of their virtual
/// stages, and then the next p; backward passes likewise, from the last one to the first.
///
/// zero_bubble_h1 runs the passes of one_f_one_b, but a backward pass computes only the gradients of inputs. On stage s
/// the gradients of a microbatch's weights follow those of the inputs of the s-th microbatch after it, or come last,
/// so that every stage holds up to p microbatches. If the three passes take f, b and w ≤ f, an iteration takes m(f + b
/// + w) + (p-1)(f + b - w) (P. Qi et al., ICLR 2024, table 2); if w is longer, the bubble is (p-1)·b. With
/// Recomputation::full b = f + b', and what it computes again stays until the gradients of weights:
/// stage s has it for s + 1 microbatches, so that the last stage saves nothing.
///
/// zero_bubble_v and dualpipe_v have virtual stages s and 2p-1-s of 2p on stage s, so that the first and the last one
/// are on stage 0, and the turn between p-1 and p needs no transfer. zero_bubble_v fills the stages by 2(p-s)-1 passes
/// of the first virtual stage, s pairs of both, and p-s times a forward and a backward pass of the second; with f = b
/// = w for each virtual stage there is no bubble (the order is that of PyTorch's ScheduleZBVZeroBubble,
/// torch/distributed/pipelining/schedules.py). Every stage holds up
/// to 2p microbatches of a virtual stage, like the p of one_f_one_b with stages of twice the size.
///
/// dualpipe_v runs a forward pass of one virtual stage together with a backward pass of the other (Slot::paired), and
/// some gradients of weights apart; with f for the forward pass of a virtual stage, and f = b ≥ w for its
/// gradients, the bubble is (p-1)(f + 2b - w) (dualpipe/dualpipev.py in deepseek-ai/DualPipe; its README has
/// (P/2-1)(F&B + B - 3W), where P = 2p, F&B = f + b + w, B = b + w, W = w). It holds 2p + 1 microbatches of a virtual
/// stage. DualPipe on 2p stages, with microbatches that enter at both ends, is two of these that mirror each other:
/// rank r and 2p-1-r have the same two virtual stages, and do the same at the same time. Here they are two replicas
/// (settle() in open_plan.hpp).
///
/// Left out: groups of more than p microbatches (microbatch_group_size_per_vp_stage), and numbers of microbatches
/// that are not a multiple of p; activations that zero_bubble_h1 could free before the gradients of weights.
namespace syncline {

/// The gradients that a backward pass computes: all, those of the layers' inputs, or those of their weights.
enum class Gradients { all, inputs, weights };

/// One pass of one microbatch through one virtual stage of a stage.
struct Slot {
    std::uint32_t virtual_rank = 0;  ///< which of the stage's virtual stages (Megatron-LM's virtual pipeline rank)
    std::uint32_t micro_batch = 0;
    bool forward = true;
    Gradients gradients = Gradients::all;  ///< of a backward pass
    /// The pass and the next one, one forward and one backward, run together: the exchanges of one overlap with the
    /// computation of the other, and the results of both leave at their end.
    bool paired = false;

    /// Returns whether the microbatch's activations are not needed afterwards.
    bool releases() const { return !forward && gradients != Gradients::inputs; }
    bool operator==(const Slot&) const = default;
};

/// Returns the order in which `stage` runs its passes: each virtual stage's forward and backward pass of every
/// microbatch once, or the two parts of the backward pass, the gradients of inputs first. Throws std::logic_error
/// without such a stage, microbatches or virtual stages, with several virtual stages if not interleaved, not two where
/// microbatches turn, if interleaved with a number of microbatches that is not a multiple of the stages, or with
/// dualpipe_v and fewer than twice as many.
std::vector<Slot> slots(const Pipeline& pipeline, std::uint32_t stage);

/// Calls `run(stage, passes)` for the passes of all stages, each stage's in its order: one pass, or two that are
/// paired. If it returns false, what they need of another stage is not there yet, and it is called again after a
/// neighbour has run some. Passes that never get what they need are left out. Throws like slots().
template <class Run>
void each_ready(const Pipeline& pipeline, Run run) {
    const auto stages = static_cast<std::uint32_t>(pipeline.stages);
    std::vector<std::vector<Slot>> orders;
    for (std::uint32_t stage = 0; stage < stages; ++stage) orders.push_back(slots(pipeline, stage));
    std::vector<std::size_t> next(stages, 0);
    std::vector<std::uint32_t> look;  // the last one first
    for (std::uint32_t stage = stages; stage-- > 0;) look.push_back(stage);
    while (!look.empty()) {
        const std::uint32_t stage = look.back();
        look.pop_back();
        const std::size_t before = next[stage];
        while (next[stage] < orders[stage].size()) {
            const Slot* const first = &orders[stage][next[stage]];
            const std::size_t together = first->paired ? 2 : 1;
            if (!run(stage, std::span(first, together))) break;
            next[stage] += together;
        }
        if (next[stage] == before || stages == 1) continue;
        look.push_back((stage + stages - 1) % stages);
        look.push_back((stage + 1) % stages);
    }
}

/// Returns the maximum number of microbatches (of any virtual stage, each counted as one) whose activations `stage`
/// holds: from the start of a forward pass to the end of the corresponding backward pass. Throws like slots().
std::uint32_t peak_passes(const Pipeline& pipeline, std::uint32_t stage);

}  // namespace syncline
