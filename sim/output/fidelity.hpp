#pragma once

#include <string>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/output/json_text.hpp"

/// Texts about folding, used by all writers: how many messages were simulated and how many were folded.
namespace syncline {

/// Returns {"fidelity", "messages_simulated", "messages_folded", "folding_error_s"}; `fidelity` is "message" or
/// "folded", whichever was used.
Json to_json(const Folded& folded);

namespace text {

/// The same fields as CSV columns, separated by commas: names and values.
extern const char* const fidelity_columns;
std::string fidelity_fields(const Folded& folded);

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

}  // namespace text

}  // namespace syncline
