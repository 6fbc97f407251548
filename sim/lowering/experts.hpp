#pragma once

#include "sim/lowering/arrangement.hpp"

/// Expert parallelism: the experts of a layer (Experts) are divided among the E ranks of a group, which all hold the
/// rest of the model, as in GShard (D. Lepikhin et al., ICLR 2021), DeepSpeed-MoE (S. Rajbhandari et al., ICML 2022)
/// and Megatron-Core.
///
/// The groups are made of replicas, unless there are expert rows (see below): E neighbours among the ranks that have
/// the same row, of columns and context. With n of these in a stage, the gradients of experts are exchanged among the
/// n/E ranks that have the same ones, all others among n. Layers of one model have the same groups.
///
/// A rank has t tokens of h elements of e bytes, each of which goes to K experts (Experts::copies, with the capacity).
/// Forward, an all-to-all of buffers of K·t·h·e bytes sends tokens to their experts (dispatch), of which (E-1)/E leave
/// the rank; they are computed, and the results return by a second one (combine). The gradients go the same way: four
/// all-to-alls for each layer and micro-batch. Shared experts and the router are computed with the rest of the layer,
/// before. Ranks have 1/E of the experts' weights, gradients and optimizer state.
///
/// With an imbalance (expert_loads.hpp) the all-to-alls have blocks in proportion to the loads of the receiving rank's
/// experts, and each rank computes as many tokens as it receives. A capacity makes all buffers equal: what is above it
/// is dropped, what is free is sent and computed, and the imbalance changes no time.
///
/// With rows, every row sends its copy of the tokens to the experts' parts on the same row, and the sums over rows
/// follow (S. Singh et al., "A hybrid tensor-expert-data parallelism approach", ICS 2023, without dropping duplicates).
/// With sequence parallelism a row sends its own positions; rows gather what has arrived before they compute, and once
/// more for the gradients of the weights, and reduce and scatter the results (Megatron-Core's
/// MoEAlltoAllTokenDispatcher, which keeps what it has gathered). They do so without groups, too: that dispatcher makes
/// a token's K copies before rows gather them (dispatch_postprocess), also where nothing is sent.
///
/// Expert rows (ExpertGroups::model) are the e neighbours that divide the hidden units of each expert: by default the
/// layer's rows. With fewer, which divide the rows, the ranks of a stage are cut anew, as in Megatron-Core
/// (megatron/core/parallel_state.py, order tp-ep-dp of the experts) and by D. Liu et al., "MoE parallel folding", arXiv
/// 2504.14960: expert rows are e neighbours, the E ranks of a group are e apart, and the n/(e·E) ranks of a stage of n
/// that are e·E apart have the same part of the same experts, whose gradients they exchange. A group then has ranks of
/// several rows, which have different positions (sequence parallelism): a rank sends its K·t·h elements, t being its
/// positions, and the e expert rows gather K·t·e tokens for 1/e of the hidden units. With e = 1 nothing is gathered.
/// The router, the normalisation and shared experts are divided by the rows as before.
///
/// With sequence parallelism, rows gather the inputs of shared experts and reduce and scatter their outputs as those of
/// any layer (megatron/core/transformer/moe/shared_experts.py, an MLP).
///
/// Left out: overlap of the all-to-alls with shared experts; tokens that go to several experts of one rank, but need be
/// sent once (DeepEP); limits on the number of nodes per token.
namespace syncline {

/// Takes from `placed` what other ranks of the group hold, if the layer has experts. Throws ParallelismError if they,
/// or the ranks, cannot be divided.
void place_experts(const Model& model, std::uint32_t layer, const Plan& plan, PlacedLayer& placed);

/// Computes the times of the members of the group, and of the slowest of them.
void time_experts(const ComputeModel& computation, std::uint32_t layer, PlacedLayer& placed);

/// Adds the rounds of the experts to the layer's exchanges.
void add_experts(const Model& model, const Layer& layer, bool sequence, const ActivationAlgorithms& algorithms,
                 PlacedLayer& placed);

}  // namespace syncline
