#pragma once

#include <string>

#include "sim/replay/trace.hpp"
#include "sim/taskgraph/words.hpp"
#include "sim/trace/limits.hpp"

/// Words used in timelines.
namespace syncline {

const char* word(ActKind kind);
const char* word(TraceLevel level);

inline constexpr Phase all_phases[] = {Phase::forward,   Phase::backward, Phase::update,      Phase::input_copy,
                                       Phase::release,   Phase::exchange, Phase::push,        Phase::pull,
                                       Phase::aggregate, Phase::barrier,  Phase::activations, Phase::halo,
                                       Phase::transfer,  Phase::weights};
/// Phases that only compressed gradients have, and other phases that only some plans have.
inline constexpr Phase codec_phases[] = {Phase::encode, Phase::factor, Phase::decode};
inline constexpr Phase core_phases[] = {Phase::context, Phase::dispatch, Phase::combine};
inline constexpr ActKind all_acts[] = {ActKind::launch,   ActKind::copy,    ActKind::send,     ActKind::window,
                                       ActKind::messages, ActKind::receive, ActKind::reduction};

}  // namespace syncline
