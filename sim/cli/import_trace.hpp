#pragma once

#include <string>

#include "sim/config/import_question.hpp"

namespace syncline::cli {

/// Returns whether all files are execution traces, and no kind is named.
bool asks_for_trace(const config::ImportQuestion& question);

/// Returns a scenario that replays the traces, on the platform that an assignment names. It is written to `out`, or to
/// standard output if that is empty. Says what is in the traces, and what was left out. Throws ConfigError.
std::string import_trace(const config::ImportQuestion& question, const std::string& out);

}  // namespace syncline::cli
