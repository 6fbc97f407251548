#pragma once

#include "sim/lowering/arrangement.hpp"

/// Expert parallelism: the experts of a layer (Experts) are divided among the E ranks of a group, which all hold the
/// rest of the model, as in GShard (D. Lepikhin et al., ICLR 2021), DeepSpeed-MoE (S. Rajbhandari et al., ICML 2022)
/// and Megatron-Core.
///
/// Groups are E neighbours among the ranks that have the same row, of columns and context, unless there are expert
/// rows. With n of these in a stage, the gradients of experts are exchanged among the n/E ranks that have the same
/// ones, all others among n. Layers of one model have the same groups.
///
/// A rank has t tokens of h elements of e bytes, each of which goes to K experts (Experts::copies, with the capacity).
/// Forward, an all-to-all of buffers of K·t·h·e bytes sends tokens to their experts (dispatch), of which (E-1)/E leave
/// the rank, and a second one returns the results (combine); gradients go the same way: four all-to-alls for each layer
/// and microbatch. Shared experts and the router are computed with the rest of the layer, before. Ranks have 1/E of
/// the experts' weights, gradients and optimizer state. With an imbalance (expert_loads.hpp) blocks and computation are
/// in proportion to the loads. A capacity makes all buffers equal: what is above it is dropped, what is free is sent
/// and computed.
///
/// With rows, every row sends its copy of the tokens, and the sums over rows follow (S. Singh et al., "A hybrid
/// tensor-expert-data parallelism approach", ICS 2023, without dropping duplicates). With sequence parallelism a row
/// sends its own positions; rows gather what has arrived, once more for the gradients of the weights, and reduce and
/// scatter the results, also without groups (Megatron-Core's MoEAlltoAllTokenDispatcher, dispatch_postprocess). They
/// exchange for shared experts as for any layer (megatron/core/transformer/moe/shared_experts.py).
///
/// Expert rows (ExpertGroups::model) are the e neighbours that divide the hidden units of each expert: by default the
/// layer's rows. With fewer, which divide the rows, as in Megatron-Core (megatron/core/parallel_state.py, order
/// tp-ep-dp of the experts) and D. Liu et al., "MoE parallel folding", arXiv 2504.14960: expert rows are e neighbours,
/// the E ranks of a group are e apart, and the n/(e·E) ranks of a stage of n that are e·E apart exchange the gradients
/// of the same part of the same experts. A rank then sends its K·t·h elements, t being its positions, and the e expert
/// rows gather K·t·e tokens for 1/e of the hidden units.
///
/// Left out: overlap of the all-to-alls with shared experts; tokens that go to several experts of one rank, but need be
/// sent once (DeepEP); limits on the number of nodes per token.
namespace syncline {

/// Takes from `placed` what other ranks of the group hold, if the layer has experts. Throws ParallelismError if they,
/// or the ranks, cannot be divided.
void place_experts(const Model& model, std::uint32_t layer, const Plan& plan, PlacedLayer& placed);

/// Computes the times of the members of the group, and of the slowest of them.
void time_experts(const ComputeModel& computation, std::uint32_t layer, PlacedLayer& placed);

/// Adds the steps of the experts to the layer's exchanges.
void add_experts(const Model& model, const Layer& layer, bool sequence, const ActivationAlgorithms& algorithms,
                 PlacedLayer& placed);

}  // namespace syncline
