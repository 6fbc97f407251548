#pragma once

namespace syncline {

/// The program's version, "0.1.0".
extern const char* const version;

/// Of the JSON and CSV that the program writes; grows when a field changes its meaning or goes away.
inline constexpr int result_schema_version = 1;

}  // namespace syncline
