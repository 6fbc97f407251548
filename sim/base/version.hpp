#pragma once

namespace syncline {

/// The program's version, "0.1.0".
extern const char* const version;

/// Version of the JSON and CSV output; it increases when a field changes its meaning or is removed.
inline constexpr int result_schema_version = 1;

}  // namespace syncline
