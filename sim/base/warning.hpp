#pragma once

#include "sim/base/diagnostics.hpp"

namespace syncline {

/// Prints a warning on standard error, `file:line:column: warning: …`, in the format of render(). Each warning is
/// printed once per process, however often the place is read. It has no other effect.
void warn(const Diagnostic& diagnostic);

}  // namespace syncline
