#pragma once

#include "sim/iteration/prices.hpp"
#include "sim/lowering/lowered.hpp"

/// Estimate of an iteration's time without simulating messages, and a lower bound of it.
///
/// A pass of a microbatch through a virtual stage takes what clocks over its operations say (pass_times.hpp). The
/// passes of all stages then follow each other in the order of their schedule, each after
/// the transfer of its activations or gradients. After them come the buckets, start[b] = max(end[b-1], released[b]) (S.
/// Shi et al., INFOCOM 2019), with hybrid sharding the all-reduces of their shards, and the gathering of updated
/// weights. Where each microbatch's gradients are exchanged before the next one begins (gradient_sync.hpp), that
/// repeats for each. Exchanges take the times of the prices. For equal stages this is the closed form of pipeline.hpp,
/// m(f + b) + (p-1)(f + b)/v.
///
/// The bound counts computation alone: stage s computes all its passes, and before the first and after the last of them
/// a microbatch computes on the stages before it,
///
///     max over s of  m·Σ virtual stages of s (f + b) + Σ stages r < s, first virtual stage (f + b)
///
/// With zb-h1 a microbatch waits neither for the gradients of weights on stages before, nor for those that stage s
/// computes after its last gradients of inputs, of s microbatches: the bound is m(f + b + w) or, if it is longer,
/// m(f + b + w) - s·w + Σ stages r < s (f + b). Likewise for the gradients of weights that a backward pass computes
/// while those of its inputs leave.
///
/// Nothing makes an iteration in steady state shorter, since the next one starts on stage 0 after the update. It holds
/// where computation is not shorter than planned: there is none with jitter, and it is 0 then.
///
/// Left out of the estimate: links that exchanges of different kinds share, computation that exchanges slow down or
/// hold up (DeviceQueues), gatherings of weights for the first unit of a pass, stragglers, and jitter.
namespace syncline {

struct Forecast {
    double time_s = 0;
    double least_s = 0;  ///< the bound
};

/// `prices` are for the places of `training`.
Forecast forecast(const Lowered& training, Prices& prices);

}  // namespace syncline
