#pragma once

#include <string>
#include <vector>

namespace syncline::cli {

/// Reports on standard error which choices of variants (`model: auto`) are skipped, and why; for more than five choices
/// only one line per reason, with an example.
void say_left_out(const std::vector<std::string>& left_out);

}  // namespace syncline::cli
