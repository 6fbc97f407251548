#pragma once

#include <string_view>

namespace syncline {

/// Returns why `name` cannot be the name of a vertex, nullptr if it can: all formats must be able to hold it, and
/// tables to show it.
const char* problem_of_name(std::string_view name);

}  // namespace syncline
