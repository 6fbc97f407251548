#pragma once

#include <string>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"

/// Texts about folding, used by all writers: how many messages were simulated and how many were folded.
namespace syncline::text {

/// Returns "message" or "folded".
const char* fidelity(const FidelityChoice& choice);
/// Returns the requested fidelity and the reason for the choice: "auto, because 4198400 messages are more than
/// 1000000".
std::string asked(const FidelityChoice& choice);

/// Returns "folded: 4194304 of 4198400 messages; …", or an empty text if the plan asks for `fidelity: message`.
std::string folded(const Folded& folded);
/// Returns such a line for each variant, preceded by its name.
std::string folded(const Report& report);
std::string folded(const SweepReport& report);

}  // namespace syncline::text
