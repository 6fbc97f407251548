#pragma once

#include <functional>

/// How the program ends.
namespace syncline::cli {

enum ExitCode { ok = 0, failed = 1, usage = 2, invalid_configuration = 3, input_output = 4, bug = 70 };

/// What `work` returns or, if it throws, the exit code of what it throws, which is then said on standard error.
int guarded(const std::function<int()>& work);

}  // namespace syncline::cli
