#pragma once

#include <string>
#include <vector>

namespace syncline::cli {

/// Says on standard error which choices of variants (`grid: auto`) are left out, and why; of more than five, a line for
/// each reason, with an example.
void say_left_out(const std::vector<std::string>& left_out);

}  // namespace syncline::cli
