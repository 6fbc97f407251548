#pragma once

#include "sim/base/diagnostics.hpp"

namespace syncline {

/// Says on standard error what a user had better change, `file:line:column: warning: …`, as render() shows an error;
/// once in a process, however often the place is read. Nothing else changes.
void warn(const Diagnostic& diagnostic);

}  // namespace syncline
