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

/// Returns the parameters of one expert that is not shared.
std::int64_t expert_parameters(const Experts& shape);

}  // namespace syncline
