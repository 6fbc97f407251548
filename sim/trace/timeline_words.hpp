#pragma once

#include <string>

#include "sim/replay/trace.hpp"
#include "sim/taskgraph/phase_words.hpp"
#include "sim/trace/limits.hpp"

/// Words used in timelines.
namespace syncline {

const char* word(ActKind kind);
const char* word(TraceLevel level);

inline constexpr Phase all_phases[] = {Phase::forward,    Phase::backward,  Phase::optimizer, Phase::update,
                                       Phase::input_copy, Phase::release,   Phase::exchange,  Phase::push,
                                       Phase::pull,       Phase::aggregate, Phase::barrier,   Phase::activations,
                                       Phase::halo,       Phase::transfer,  Phase::weights};
/// Phases of compressed gradients and of recomputation, of offload, and exchanges inside layers, which most plans do
/// not have.
inline constexpr Phase rare_phases[] = {Phase::encode, Phase::factor, Phase::decode, Phase::recompute};
inline constexpr Phase offload_phases[] = {Phase::to_host, Phase::to_device};
inline constexpr Phase load_phases[] = {Phase::load};
inline constexpr Phase trace_phases[] = {Phase::kernel, Phase::communication};
inline constexpr Phase core_phases[] = {Phase::context, Phase::dispatch, Phase::combine};
inline constexpr ActKind all_acts[] = {ActKind::launch,   ActKind::copy,    ActKind::send,     ActKind::window,
                                       ActKind::messages, ActKind::receive, ActKind::reduction};

}  // namespace syncline
