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
/// ExpertExchange::deduplicated: a token goes once to each node that has some of its experts, and there once to each
/// rank that has some (node_all_to_all.hpp). With even routing the K experts of a token are any of X, of which a rank
/// has c and a node e = g·c. Of the X a part has n with probability 1 - C(X-n, K)/C(X, K), so that a token needs
///
///     m = N·(1 - C(X-e, K)/C(X, K)) nodes, and N·g·(1 - C(X-c, K)/C(X, K)) ranks.
///
/// With node-limited routing (ExpertGroups::token_nodes) the K experts are on M nodes: in both formulas X is M·e, and N
/// is M (DeepSeek-AI, "DeepSeek-V3", 2024, section 2.1.2, where every node has the same chance).
///
/// ExpertGroups::fp8_dispatch: elements of tokens, and of gradients of results, have 1 + 4/128 B, because each 128 have
/// a scale of 4 B; results, and gradients of tokens, remain activations (the same, section 3.3.2).
///
/// Left out: overlap of the all-to-alls with shared experts; casts to FP8; deduplication with a capacity.
namespace syncline {

/// Takes from `placed` what other ranks of the group hold, if the layer has experts. Throws ParallelismError if they,
/// or the ranks, cannot be divided.
void place_experts(const Model& model, std::uint32_t layer, const Plan& plan, PlacedLayer& placed);

/// Computes the times of the members of the group, and of the slowest of them.
void time_experts(const ComputeModel& computation, std::uint32_t layer, PlacedLayer& placed);

/// Expected numbers of nodes and of ranks that a token needs.
struct TokenSpread {
    double nodes = 1, ranks = 1;
};

/// Returns them for `nodes` nodes of `ranks` ranks each, where a token has `top_k` experts, evenly routed, and a rank
/// `experts`; with a limit the experts of a token are on `limit` nodes.
TokenSpread token_spread(double nodes, double ranks, double experts, double top_k, double limit = 0);

/// Adds the steps of the experts to the layer's exchanges; `devices` are those of a node. Throws ParallelismError if
/// tokens are deduplicated, and groups do not consist of nodes.
void add_experts(const Model& model, const Layer& layer, const Plan& plan, std::int64_t devices,
                 const ActivationAlgorithms& algorithms, PlacedLayer& placed);

/// Throws ParallelismError if tokens are deduplicated, and ranks that were taken to be on one node are not.
void check_expert_nodes(const Arrangement& arrangement, const std::vector<Place>& places);

}  // namespace syncline
