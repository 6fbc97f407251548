#pragma once

#include <cstdint>
#include <string>

#include "sim/workload/model.hpp"

/// A layer of experts (mixture of experts, MoE). With s positions of width h, E experts of which each token uses K,
/// each a feed-forward network of P parameters and M multiply-accumulates per token (2 matrices, or 3 if it is gated),
/// and S shared experts with P' and M':
///
///     parameters                hE + E·P + S·P', and the normalisation
///     acting on a token         hE + K·P + S·P', and the normalisation
///     multiply-accumulates      s·(hE + K·M + S·M'), without what a capacity pads
///
/// hE is the router, a matrix without bias. Left out: an expert bias of the router's scores, as in DeepSeek-V3 (E
/// parameters that no gradient changes); the auxiliary loss that balances the experts.
namespace syncline {

Layer experts(std::string name, const Experts& shape);

/// Return the parameters of one expert that is not shared, and of the router.
std::int64_t expert_parameters(const Experts& shape);
std::int64_t router_parameters(const Experts& shape);

/// Returns the parameters of a row that has this part of a layer: every row has the whole router, since each routes its
/// own tokens, or all (Megatron-Core, megatron/core/transformer/moe/router.py).
double row_parameters(const Layer& layer, double part);

}  // namespace syncline
