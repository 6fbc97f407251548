#pragma once

#include <string>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/output/json_text.hpp"

/// What of a result was simulated message by message and what was folded, as all writers show it.
namespace syncline {

/// {"fidelity", "messages_simulated", "messages_folded", "folding_error_s"}: "message" or "folded", as was done.
Json to_json(const Folded& folded);

namespace text {

/// Of CSV, the same fields, commas between them.
extern const char* const fidelity_columns;
std::string fidelity_fields(const Folded& folded);

/// "message" or "folded".
const char* fidelity(const FidelityChoice& choice);
/// "auto, as 4198400 messages are more than 1000000": what was asked for, and what decided.
std::string asked(const FidelityChoice& choice);

/// "folded: 4194304 of 4198400 messages, …", or nothing where the plan asks for `fidelity: message`.
std::string folded(const Folded& folded);
/// The same of each variant, a line each, its name before it.
std::string folded(const Report& report);
std::string folded(const SweepReport& report);

}  // namespace text

}  // namespace syncline
